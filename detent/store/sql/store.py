"""A store on a SQL database of any dialect: one object with the verbs of its five parts."""

from __future__ import annotations

from detent.store.protocol import CommandStore, Hints, MaintenanceStore, NodeStore
from detent.store.sql.access import SqlAccess
from detent.store.sql.verbs import TriggerVerbs
from detent.store.sql.workflow_verbs import WorkflowVerbs


class SqlStore:
    """Composes the parts of a store. Each part implements one protocol of `store/protocol.py`."""

    hints: Hints | None = None

    def __init__(
        self, access: SqlAccess, nodes: NodeStore, commands: CommandStore, maintenance: MaintenanceStore
    ) -> None:
        triggers = TriggerVerbs(access)
        workflows = WorkflowVerbs(access)

        self.heartbeat = nodes.heartbeat
        self.register = nodes.register
        self.beat = nodes.beat
        self.raise_epoch = nodes.raise_epoch
        self.overdue = nodes.overdue
        self.take_over = nodes.take_over
        self.retire = nodes.retire
        self.flush = nodes.flush
        self.claim = nodes.claim
        self.mail = nodes.mail
        self.owned = nodes.owned
        self.release = nodes.release
        self.journals = nodes.journals
        self.graphs = nodes.graphs
        self.archived = nodes.archived

        self.deliver = commands.deliver
        self.deliver_many = commands.deliver_many
        self.send = commands.send
        self.run = commands.run
        self.runs = commands.runs
        self.count_runs = commands.count_runs
        self.ended = commands.ended
        self.existing = commands.existing
        self.offers = commands.offers
        self.record_served = commands.record_served
        self.last_served = commands.last_served
        self.journal = commands.journal
        self.callbacks = commands.callbacks
        self.active_run = commands.active_run
        self.timeline = commands.timeline
        self.kept = commands.kept

        self.save_workflow = workflows.save_workflow
        self.activate_version = workflows.activate_version
        self.change_status = workflows.change_status
        self.save_draft = workflows.save_draft
        self.draft = workflows.draft
        self.drop_draft = workflows.drop_draft
        self.publish_draft = workflows.publish_draft
        self.store_draft = workflows.store_draft
        self.workflow = workflows.workflow
        self.deleted_workflow = workflows.deleted_workflow
        self.workflows = workflows.workflows
        self.versions = workflows.versions
        self.version = workflows.version
        self.enable_workflow = workflows.enable_workflow
        self.delete_workflow = workflows.delete_workflow

        self.add_trigger = triggers.add_trigger
        self.trigger = triggers.trigger
        self.triggers = triggers.triggers
        self.listeners = triggers.listeners
        self.change_trigger = triggers.change_trigger
        self.drop_trigger = triggers.drop_trigger
        self.due_triggers = triggers.due_triggers
        self.take_slots = triggers.take_slots
        self.add_firings = triggers.add_firings
        self.firing = triggers.firing
        self.firings = triggers.firings
        self.due_firings = triggers.due_firings
        self.begin_firing = triggers.begin_firing
        self.end_firing = triggers.end_firing
        self.prune_firings = triggers.prune_firings

        self.now = maintenance.now
        self.check = maintenance.check
        self.setting = maintenance.setting
        self.change_setting = maintenance.change_setting
        self.orphans = maintenance.orphans
        self.prune = maintenance.prune
        self.compact = maintenance.compact
        self.tidy = maintenance.tidy
        self.examine = maintenance.examine
        self.close = maintenance.close
