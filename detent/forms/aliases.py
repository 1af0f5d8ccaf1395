"""The names that the expressions of a document use: those of its own form, or of the one that `scope` names.

So a document that was converted to another form has the expressions that were written, word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from detent.forms.graph.scope import GraphScope
from detent.forms.rules.scope import RuleScope
from detent.forms.scope import ScopeCheck
from detent.forms.steps.scope import StepsScope
from detent.graph.check import Upstream
from detent.graph.model import GRAPH_SCOPE, RULE_SCOPE, STEPS_SCOPE, StepKind
from detent.values.fields import Fields, Problems, shown

_Kinds = Mapping[str, StepKind | None]
_Build = Callable[[_Kinds, Upstream, Collection[str], Problems], ScopeCheck]

_SCOPES: Final[dict[str, _Build]] = {
    STEPS_SCOPE: StepsScope,
    GRAPH_SCOPE: GraphScope,
    RULE_SCOPE: RuleScope,
}
#: The words of `scope`.
SCOPES: Final = tuple(_SCOPES)


def read_scope(fields: Fields, usual: str) -> str:
    """Read which names the expressions of a document use; `usual` are those of its form."""
    written = fields.get("scope")
    if written is None:
        return usual
    if not isinstance(written, str) or written not in _SCOPES:
        given = shown(written) if isinstance(written, str) else "a value of another kind"
        hint = fields.problems.did_you_mean(str(written), SCOPES)
        fields.problems.add(fields.at("scope"), f"{given} is not one of {', '.join(SCOPES)}{hint}")
        return usual
    return written


def scope_check(
    scope: str,
    kinds: _Kinds,
    upstream: Upstream,
    variables: Collection[str],
    problems: Problems,
    sensitive: Collection[str] = (),
) -> ScopeCheck:
    """Build what checks reads against the names of a scope. `sensitive` are the steps whose results are sealed."""
    made = _SCOPES[scope](kinds, upstream, variables, problems)
    made.sensitive = frozenset(sensitive)
    return made
