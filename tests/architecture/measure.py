"""Reads Python sources and reports what breaks a budget. Each function returns findings, a line of text each."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

MAX_FILE = 600
MAX_FUNCTION = 60
MAX_MODULES = 20
MIN_MODULE = 40
FORBIDDEN_MODULES = frozenset({"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"})
FORBIDDEN_WORDS = frozenset({"job", "jobs", "task", "tasks", "execution", "executions"})

# A path of one machine, or the host of a package registry.
MACHINE = re.compile(
    r"(?<![\w./-])/(?:work|root|farm|home)/[\w.]"
    r"|\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|(?:deb|security)\.debian\.org)\b"
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root, and its text."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree. Measures go over this list: walking the tree takes ten times as long."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        return [node for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom)]

    @cached_property
    def word_counts(self) -> Counter[str]:
        """How often each word occurs in names, comments and strings, in small letters."""
        return Counter(words(self.text))

    @property
    def module(self) -> str:
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def at(self, node: ast.stmt | ast.expr | ast.arg) -> str:
        return f"{self.path}:{node.lineno}"


@cache
def read_sources(root: Path, package: str) -> list[Source]:
    """Every Python file of a package, read and parsed once for all tests of a process."""
    files = sorted((root / package).rglob("*.py"))
    return [Source(path.relative_to(root), path.read_text()) for path in files]


def long_files(sources: Iterable[Source], limit: int = MAX_FILE) -> list[str]:
    counted = ((source.path, len(source.text.splitlines())) for source in sources)
    return [f"{path}: {lines} lines, at most {limit}" for path, lines in counted if lines > limit]


def long_functions(sources: Iterable[Source], limit: int = MAX_FUNCTION) -> list[str]:
    """Functions over the limit, but for those that are one `match`, one table or one constructor call."""
    return [
        f"{source.at(function)} {function.name}: {lines} lines, at most {limit}"
        for source in sources
        for function in source.functions
        if (lines := (function.end_lineno or function.lineno) - function.lineno + 1) > limit
        and not _is_one_table(function)
    ]


def _is_one_table(function: Function) -> bool:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    is_one = len(body) == 1 and isinstance(body[0], ast.Match | ast.Return)
    return is_one or all(isinstance(line, ast.Assign) for line in body)


def forbidden_names(sources: Iterable[Source]) -> list[str]:
    return [
        f"{source.path}: name a module by its responsibility"
        for source in sources
        if FORBIDDEN_MODULES & set(source.path.with_suffix("").parts)
    ]


def imported(source: Source, known: frozenset[str]) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
    """The names of modules that a file imports; of `from package import module`, the module."""
    for node in source.imports:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((name if name in known else node.module, node) for name in inner)


def import_cycles(sources: Iterable[Source]) -> list[str]:
    """A cycle among the modules, as a path; imports inside functions and for types count too."""
    by_name = {source.module: source for source in sources}
    known = frozenset(by_name)
    graph = {name: {to for to, _ in imported(source, known) if to in known} for name, source in by_name.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def inner_imports(sources: Iterable[Source], allowed: Mapping[str, str]) -> list[str]:
    """Imports inside functions, but for modules that `allowed` names (itself or a package above it)."""
    found: list[str] = []
    for source in sources:
        bodies = [(function.lineno, function.end_lineno or function.lineno) for function in source.functions]
        for name, node in imported(source, frozenset()):
            excused = any(name == module or name.startswith(f"{module}.") for module in allowed)
            if not excused and any(first <= node.lineno <= last for first, last in bodies):
                found.append(f"{source.at(node)} imports {name} inside a function")
    return found


def untyped_functions(sources: Iterable[Source]) -> list[str]:
    """Public functions and methods that leave a parameter or their return without a type."""
    found: list[str] = []
    for source in sources:
        for function in source.functions:
            if function.name.startswith("_") and not function.name.startswith("__"):
                continue
            arguments = function.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            bare = [arg.arg for arg in every if arg and arg.annotation is None and arg.arg not in ("self", "cls")]
            if bare or function.returns is None:
                found.append(f"{source.at(function)} {function.name}: no type for {', '.join(bare) or 'its return'}")
    return found


def forbidden_words(sources: Iterable[Source]) -> list[str]:
    """Classes, functions, parameters and fields named job, task or execution; asyncio's own tasks may be."""
    found: list[str] = []
    for source in sources:
        for name, node, annotation in _declared(source.nodes):
            if FORBIDDEN_WORDS & set(words(name)) and not _is_asyncio_task(annotation):
                found.append(f"{source.at(node)} {name}: say step, run or attempt")
    return found


def words(name: str) -> list[str]:
    """The words of `snake_case` or `CamelCase`, in small letters."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def _declared(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.stmt | ast.arg, ast.expr | None]]:
    """Each declared name with its node and its annotation."""
    for node in nodes:
        if isinstance(node, ast.ClassDef | Function):
            yield node.name, node, None
        elif isinstance(node, ast.arg):
            yield node.arg, node, node.annotation
        elif isinstance(node, ast.AnnAssign):
            target = node.target
            yield target.attr if isinstance(target, ast.Attribute) else ast.unparse(target), node, node.annotation


def _is_asyncio_task(annotation: ast.expr | None) -> bool:
    return annotation is not None and "asyncio.Task" in ast.unparse(annotation)


def machine_traces(texts: Mapping[str, str]) -> list[str]:
    """Lines that name a path of one machine or a package registry's host."""
    return [
        f"{name}:{number}: {match.group()}"
        for name, text in texts.items()
        if MACHINE.search(text)
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := MACHINE.search(line))
    ]


def crowded_packages(sources: Iterable[Source], limit: int = MAX_MODULES) -> list[str]:
    """Packages with too many modules of their own; `__init__` does not count."""
    counted = Counter(source.path.parent for source in sources if source.path.name != "__init__.py")
    return [f"{folder}: {count} modules, at most {limit}" for folder, count in sorted(counted.items()) if count > limit]


def modules_in_ing(sources: Iterable[Source]) -> list[str]:
    """Modules and packages named after an activity."""
    return [
        f"{source.path}: a module is a noun"
        for source in sources
        if re.search(r"ing$", source.module.rpartition(".")[2])
    ]


def lonely_modules(sources: Sequence[Source], limit: int = MIN_MODULE) -> list[str]:
    """Small modules that only one other module imports: they belong in that module."""
    known = frozenset(source.module for source in sources)
    importers: dict[str, set[str]] = {name: set() for name in known}
    for source in sources:
        for name, _ in imported(source, known):
            if name in importers and name != source.module:
                importers[name].add(source.module)
    return [
        f"{source.path}: {lines} lines, imported by {next(iter(importers[source.module]))} only"
        for source in sources
        if source.path.name != "__init__.py"
        and (lines := len(source.text.splitlines())) < limit
        and len(importers[source.module]) == 1
    ]


def repeated_classes(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Public classes whose name stands in more than one module, with their files."""
    found: dict[str, list[str]] = {}
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(source.path))
    return {name: files for name, files in found.items() if len(files) > 1}


def count_words(sources: Iterable[Source], wanted: Iterable[str]) -> dict[str, int]:
    """How often each word stands in names, comments and strings, in any case and as a plural too."""
    every = [source.word_counts for source in sources]
    return {word: sum(counts[word] + counts[f"{word}s"] for counts in every) for word in wanted}


def one_caller(sources: Iterable[Source]) -> list[str]:
    """Private module-level functions that one place of their module uses."""
    found: list[str] = []
    for source in sources:
        uses = Counter(node.id for node in source.nodes if isinstance(node, ast.Name))
        uses.update(node.attr for node in source.nodes if isinstance(node, ast.Attribute))
        found.extend(
            f"{source.at(node)} {node.name}"
            for node in source.tree.body
            if isinstance(node, Function) and node.name.startswith("_") and uses[node.name] == 1
        )
    return found


def users_of(sources: Iterable[Source], name: str) -> set[str]:
    """The modules in which a name is used, imported or defined."""
    return {
        source.module
        for source in sources
        if name in source.text
        and any(
            (isinstance(node, ast.Name) and node.id == name)
            or (isinstance(node, ast.Attribute) and node.attr == name)
            or (isinstance(node, ast.alias) and name in (node.name, node.asname))
            for node in source.nodes
        )
    }


def numbers(sources: Iterable[Source], wanted: Iterable[int]) -> list[str]:
    """Places where one of these numbers is written out, also as a product."""
    chosen = set(wanted)
    return [
        f"{source.at(node)} {ast.unparse(node)}"
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.Constant | ast.BinOp) and _number(node) in chosen
    ]


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    match node:
        case ast.BinOp(left=ast.Constant(value=int() as left), op=ast.Mult(), right=ast.Constant(value=int() as right)):
            return left * right
        case _:
            return None


def exceptions(sources: Iterable[Source]) -> list[str]:
    """Public exception classes outside of `errors` modules."""
    return [
        f"{source.at(node)} {node.name}"
        for source in sources
        if source.path.name != "errors.py"
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and any(re.search(r"(Error|Exception)$", ast.unparse(parent)) for parent in node.bases)
    ]
