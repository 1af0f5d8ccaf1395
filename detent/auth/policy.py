"""The policy: one line per operation of the API, with what it needs and whether it is audited.

The guard of the API, the docs and the tests read this table. The application does not start if an operation has no
line, or if a path has a parameter whose object is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from detent.auth.scopes import Scope


class Access(Enum):
    """What an operation needs if it needs no scope."""

    PUBLIC = "public"  # its address is the key, or it shows nothing
    IDENTIFIED = "identified"  # any caller that is known


class Line(NamedTuple):
    """What an operation needs. An audited operation leaves a row in the audit, also if it is refused."""

    need: Scope | Access
    audited: bool = False


def _lines(need: Scope | Access, names: str, *, audited: bool = False) -> dict[str, Line]:
    return dict.fromkeys(names.split(), Line(need, audited))


POLICY: Final[Mapping[str, Line]] = {
    **_lines(Access.PUBLIC, "live ready receive_callback show_callback call_trigger call_workflow options_handler"),
    **_lines(Access.PUBLIC, "finish_connection"),  # the state in its address is the key
    **_lines(Access.IDENTIFIED, "get_me read_schema show_openapi _handler handle_schema_path_not_found"),
    # Reading.
    **_lines(
        Scope.READ,
        """show_index list_workflows get_workflow list_workflow_versions get_workflow_version compare_workflow_versions
        get_workflow_draft list_workflow_stats get_workflow_stats get_version_graph get_workflow_grid plan_workflows
        rehearse_workflow
        list_rules get_rule get_full_rule list_rule_runs list_rule_versions list_rule_history get_rule_version
        match_rules list_recent_matches list_rule_firings list_rule_actions get_rule_action list_rule_edges
        get_rule_edge list_entities get_entity list_entity_events list_reference_entities list_trigger_types
        list_reference_trigger_types list_action_types list_reference_action_types list_alerts get_alert
        list_runs get_run explain_run evaluate_run get_run_hierarchy get_run_outline get_run_graph get_run_step
        verify_run export_run preview_run_retry list_run_history list_run_items list_run_events stream_run stream_topics
        list_run_logs stream_run_logs
        read_run_histogram read_run_counts read_run_facets search list_heroes tell_hero_timeline tell_timeline
        list_resources list_blobs download_blob list_waits list_dead_letters get_dead_letter
        list_connectors get_connector list_connector_actions list_actions count_actions get_action
        list_triggers get_trigger next_slots_of_trigger preview_schedule list_firings list_all_firings get_firing""",
    ),
    **_lines(
        Scope.READ_TEMPLATES,
        """list_action_templates get_action_template list_workflow_templates get_workflow_template list_template_sets
        list_document_templates get_document_template get_document_template_of_set render_document_template""",
    ),
    **_lines(Scope.METRICS, "list_nodes list_queues get_storage"),
    # Starting runs. The run's own row says who started it, so that the audit need not.
    **_lines(Scope.EXECUTE, "trigger_workflow execute_workflow send_event send_entity_events"),
    # Steering runs.
    **_lines(
        Scope.EXECUTE,
        """cancel_run pause_run resume_run retry_run rerun_run fork_run resolve_run_step skip_run_step
        reattempt_run_step finish_run change_many_runs signal_run move_run move_many_runs answer_run_step
        fire_trigger backfill_trigger replay_firing acknowledge_alert resolve_alert
        purge_dead_letter requeue_dead_letter change_many_dead_letters""",
        audited=True,
    ),
    # Changing what runs.
    **_lines(
        Scope.MANAGE,
        """create_workflow save_workflow delete_workflow enable_workflow disable_workflow publish_workflow
        archive_workflow reactivate_workflow activate_workflow_version discard_workflow_draft unlock_workflow
        create_rule save_rule delete_rule create_full_rule save_full_rule change_layout activate_rule deactivate_rule
        restore_rule add_rule_action remove_rule_action change_rule_action replace_rule_action add_rule_edge
        remove_rule_edge change_rule_edge replace_rule_edge create_entity change_entity delete_entity
        instantiate_workflow_template create_trigger apply_trigger update_trigger delete_trigger pause_trigger
        resume_trigger add_connector remove_connector enable_connector disable_connector upgrade_connector enable_action
        disable_action import_openapi import_mcp""",
        audited=True,
    ),
    **_lines(
        Scope.MANAGE_TEMPLATES,
        """create_action_template replace_action_template delete_action_template create_workflow_template
        delete_workflow_template save_template_set create_document_template save_document_template
        disable_document_template enable_document_template""",
        audited=True,
    ),
    # What steps send and no caller reads.
    **_lines(Scope.SECRETS, "list_secrets get_secret"),
    **_lines(Scope.SECRETS, "set_secret delete_secret rotate_secrets", audited=True),
    **_lines(Scope.SECRETS, "list_credentials get_credential"),
    **_lines(Scope.SECRETS, "set_credential connect_credential delete_credential", audited=True),
    # Who may ask.
    **_lines(
        Access.PUBLIC,
        "show_login show_logout begin_login_at_provider list_login_methods",
    ),
    **_lines(Access.PUBLIC, "sign_in sign_out finish_login_at_provider", audited=True),
    **_lines(Access.IDENTIFIED, "list_sessions"),
    **_lines(Access.IDENTIFIED, "end_session change_own_password", audited=True),
    **_lines(Scope.KEYS, "list_users get_user"),
    **_lines(Scope.KEYS, "create_user change_user", audited=True),
    **_lines(Scope.TENANTS, "list_tenants get_tenant"),
    **_lines(
        Scope.TENANTS,
        "create_tenant change_tenant suspend_tenant resume_tenant export_tenant delete_tenant",
        audited=True,
    ),
    **_lines(Scope.KEYS, "list_keys get_key"),
    **_lines(Scope.KEYS, "create_key rotate_key revoke_key", audited=True),
    **_lines(Scope.AUDIT, "list_audit export_audit"),
}

#: The operations that need `workflows:execute` and are open to a caller that may start only some workflows. The others
#: start, steer or change runs of any workflow.
STARTS: Final = frozenset({"trigger_workflow", "execute_workflow"})

#: The parameters of paths and what they name. A parameter that names a part of its parent, or no object, has `None`.
OBJECTS: Final[Mapping[str, str | None]] = {
    "workflow": "workflow",
    "run": "run",
    "rule": "rule",
    "trigger": "trigger",
    "firing": "firing",
    "entity": "entity",
    "alert": "alert",
    "letter": "dead letter",
    "blob": "blob",
    "connector": "connector",
    "action": "action",
    "template": "template",
    "template_set": "template set",
    "key": "key",
    "tenant": "tenant",
    "secret": "secret",
    "user": "user",
    "session": "session",
    "credential": "credential",
    "token": "callback",
    "hero_type": "hero",
    "hero_id": None,
    "number": None,
    "version": None,
    "step": None,
    "edge": None,
    "name": None,
    "form": None,
    "path": None,
}


def line_of(operation: str) -> Line | None:
    """Return the line of an operation, `None` if it has none."""
    return POLICY.get(operation)
