"""Clauses that the rules of several domains need: logins, accounts, administrators."""

LOGIN: dict[str, str | tuple[str, str]] = {
    "logged_in_user": ("the user named by {username} is logged in", "nobody of the name {username} is logged in"),
    "login_user": "logging {username} in succeeds",
}
ACCOUNT = LOGIN | {
    "internal_check_username_exist": (
        "an account of the name {username} exists",
        "no account of the name {username} exists",
    ),
}
ADMINISTRATOR = ACCOUNT | {
    "authenticated_admin_password": "the administrator's password was given for {username}",
    "authenticate_admin_password": "the administrator's password of {username} is right",
}
