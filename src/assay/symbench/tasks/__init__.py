"""The 37 tasks: complexity parameters, generator and question text, one module each."""
