"""The university: enrolment, majors and minors, graduation, financial aid."""

from typing import Any

from assay.sopbench.system import System

Pair = tuple[bool, Any]


class University(System):
    """State and functions of the university."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._students: dict[str, Any] = state["students"]
        self._courses: dict[str, Any] = state["courses"]

    def login_user(self, username: str, password: str) -> bool:
        if username not in self._students:
            return False
        return bool(self._students[username]["password"] == password)

    def logout_user(self, username: str) -> bool:
        return True

    def enroll_course(self, username: str, course_code: str) -> bool:
        if course_code not in self._courses:
            return False
        student = self._students[username]
        course = self._courses[course_code]
        student["enrolled_courses"].append(course_code)
        student["current_credits"] += course["credits"]
        course["enrolled"] += 1
        return True

    def drop_course(self, username: str, course_code: str) -> bool:
        student = self._students[username]
        course = self._courses[course_code]
        student["enrolled_courses"].remove(course_code)
        student["current_credits"] -= course["credits"]
        course["enrolled"] -= 1
        return True

    def request_graduation(self, username: str) -> bool:
        return True

    def change_major(self, username: str, new_major: str) -> bool:
        if new_major not in self.state["majors"]:
            return False
        student = self._students[username]
        student["major"] = new_major
        student["major_changes"] += 1
        return True

    def declare_minor(self, username: str, minor: str) -> bool:
        if minor not in self.state["minors"]:
            return False
        self._students[username]["minors"].append(minor)
        return True

    def apply_financial_aid(self, username: str) -> bool:
        self._students[username]["financial_aid_quarters"] += 1
        return True

    def internal_check_username_exists(self, username: str) -> Pair:
        return True, username in self._students

    def internal_check_course_exists(self, course_code: str) -> Pair:
        return True, course_code in self._courses

    def internal_get_academic_calendar(self) -> Pair:
        return True, self.state["academic_calendar"]

    def internal_get_course_info(self, course_code: str) -> Pair:
        if course_code not in self._courses:
            return False, {}
        return True, self._courses[course_code]

    def internal_get_student_info(self, username: str) -> Pair:
        if username not in self._students:
            return False, {}
        return True, self._students[username]

    def internal_get_major_info(self, major: str) -> Pair:
        if major not in self.state["majors"]:
            return False, {}
        return True, self.state["majors"][major]

    def internal_check_major_exists(self, major: str) -> Pair:
        return True, major in self.state["majors"]

    def internal_get_minor_info(self, minor: str) -> Pair:
        if minor not in self.state["minors"]:
            return False, None
        return True, self.state["minors"][minor]

    def internal_check_minor_exists(self, minor: str) -> Pair:
        return True, minor in self.state["minors"]

    def internal_get_interaction_time(self) -> Pair:
        return True, self.state["interaction_time"]

    def internal_get_number_of_students_for_major(self, major: str) -> bool | Pair:
        if major not in self.state["majors"]:
            return False
        return True, sum(1 for student in self._students.values() if student["major"] == major)

    def internal_get_database(self) -> Pair:
        return True, self.state
