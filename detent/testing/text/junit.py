"""Write the results of tests in text as JUnit XML, which build servers read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree

from detent.testing.text.trial import TextTestResult

#: Characters that XML cannot have.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(results: Sequence[tuple[str, Sequence[TextTestResult]]], invalid: Sequence[tuple[str, str]]) -> bytes:
    """Build the document: one suite per file. `invalid` are files that could not be read, with the reason."""
    root = ElementTree.Element("testsuites", name="detent")
    for file, tests in results:
        failed = sum(bool(test.failures) for test in tests)
        suite = _suite(root, file, len(tests), failures=failed, errors=0)
        suite.set("time", f"{sum(test.seconds for test in tests):.3f}")
        for test in tests:
            case = ElementTree.SubElement(suite, "testcase", classname=_text(file), name=_text(test.name))
            case.set("time", f"{test.seconds:.3f}")
            if test.failures:
                failure = ElementTree.SubElement(case, "failure", message=_text(test.failures[0]))
                failure.text = _text("\n".join([*test.failures, *([test.route] if test.route else [])]))
    for file, reason in invalid:
        suite = _suite(root, file, 1, failures=0, errors=1)
        case = ElementTree.SubElement(suite, "testcase", classname=_text(file), name="the file is valid")
        ElementTree.SubElement(case, "error", message=_text(reason.splitlines()[0])).text = _text(reason)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _suite(root: ElementTree.Element, file: str, tests: int, *, failures: int, errors: int) -> ElementTree.Element:
    suite = ElementTree.SubElement(root, "testsuite", name=_text(file))
    for name, count in (("tests", tests), ("failures", failures), ("errors", errors), ("skipped", 0)):
        suite.set(name, str(count))
    return suite


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
