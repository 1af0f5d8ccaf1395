"""The checklist of a hero-centred workflow library: each line in its own words, and the test named after it.

Its words are those of a library for another framework; where they speak of its parts, the test shows what takes their
place here.
"""

from __future__ import annotations

from typing import Final

CHECKLIST: Final = {
    # Core features
    "ActiveRecord-backed workflows (STI)": "test_database_backed_workflows_of_several_classes",
    "Polymorphic hero association": "test_polymorphic_hero_association",
    "Step DSL (named and anonymous)": "test_step_dsl_named_and_anonymous",
    "Wait times between steps": "test_wait_times_between_steps",
    "State machine (ready/performing/finished/canceled/paused)": (
        "test_state_machine_ready_performing_finished_canceled_paused"
    ),
    "Lock-guarded execution": "test_lock_guarded_execution",
    "Single execution guarantee per workflow": "test_single_execution_guarantee_per_workflow",
    "Class-inheritable DSL (steps, cancel_if, job_options)": "test_class_inheritable_dsl_steps_cancel_if_and_options",
    # Step definition
    "Named steps with blocks": "test_named_steps_with_blocks",
    "Anonymous steps with auto-naming": "test_anonymous_steps_with_auto_naming",
    "Instance method steps (`step :method_name`)": "test_instance_method_steps",
    "Inline method definition (`step def method_name`)": "test_inline_method_definition",
    "Step ordering (before_step/after_step)": "test_step_ordering_before_step_and_after_step",
    # Conditional logic
    "skip_if with symbols/callables/booleans": "test_skip_if_with_names_callables_and_booleans",
    "skip_if evaluated at execution time (not scheduling)": "test_skip_if_evaluated_at_execution_time_not_scheduling",
    "cancel_if for blanket conditions": "test_cancel_if_for_blanket_conditions",
    "Class-inheritable cancel_if": "test_class_inheritable_cancel_if",
    # Flow control
    "cancel! - mark workflow canceled": "test_cancel_marks_the_workflow_canceled",
    "pause! - pause for manual intervention": "test_pause_pauses_for_manual_intervention",
    "reattempt! - retry current step with optional wait": "test_reattempt_retries_the_current_step_with_optional_wait",
    "skip! - skip current step, proceed to next": "test_skip_skips_the_current_step_and_proceeds_to_the_next",
    "finished! - mark workflow complete": "test_finish_marks_the_workflow_complete",
    "resume! - resume paused workflow": "test_resume_resumes_a_paused_workflow",
    # Hero handling
    "Cancel by default if hero deleted": "test_cancel_by_default_if_hero_deleted",
    "may_proceed_without_hero! opt-out": "test_may_proceed_without_hero_opt_out",
    # Scheduling
    "Forward scheduler (inlined in Workflow)": "test_forward_scheduler",
    "Scheduling within workflow lock (atomic)": "test_scheduling_is_atomic",
    # What performs steps
    "PerformStepJob for step execution": "test_perform_step_when_it_is_due_and_once",
    "set_step_job_options for queue/priority": "test_step_options_for_queue_and_priority",
    "Class-inheritable job options": "test_class_inheritable_queue_and_priority",
    "Lock-based idempotency in job": "test_lock_based_idempotency_a_second_writer_is_refused",
    # Exception handling
    "on_exception: :pause! (default)": "test_on_exception_pause_is_the_default",
    "on_exception: :cancel!": "test_on_exception_cancel",
    "on_exception: :reattempt!": "test_on_exception_reattempt",
    "on_exception: :skip!": "test_on_exception_skip",
    "Store error message/backtrace": "test_store_error_message_and_backtrace",
    # Uniqueness
    "One workflow per hero by default": "test_one_workflow_per_hero_by_default",
    "allow_multiple flag for concurrent workflows": "test_allow_multiple_flag_for_concurrent_workflows",
    "Database-enforced constraints (PostgreSQL, MySQL, SQLite)": "test_database_enforced_constraints",
    # Querying
    "State scopes (ready, paused, finished, etc.)": "test_state_scopes_ready_performing_paused_finished_canceled",
    "for_hero scope": "test_for_hero_scope",
    "active scope": "test_active_scope",
    # Hooks and callbacks
    "before_step_starts(step_name)": "test_before_step_starts",
    # Installation
    "Generator for installation": "test_generator_for_installation",
    "Migration templates with database detection": "test_migration_with_database_detection",
    "MigrationHelpers module for key type detection": "test_heroes_with_keys_of_any_type",
    "Configuration initializer": "test_configuration",
    # Audit trail
    "Step execution history preserved": "test_step_history_preserved",
    "Outcome column (5 values)": "test_outcome_has_five_values",
    "Error message/backtrace storage": "test_error_message_and_backtrace_of_every_attempt",
    "Individual timestamps on step executions": "test_individual_timestamps_on_attempts",
    # Testing
    "speedrun_workflow helper": "test_speedrun_helper",
    "Reload between steps in tests": "test_reload_between_steps_in_tests",
}
