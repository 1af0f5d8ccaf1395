"""A store on a SQL database of any dialect: one object with the verbs of its parts."""

from __future__ import annotations

from detent.store.events import EventStore
from detent.store.protocol import CommandStore, Hints, ListStore, MaintenanceStore, NodeStore, Store
from detent.store.sql.access import SqlAccess
from detent.store.sql.auth.audit import AuditVerbs
from detent.store.sql.auth.keys import KeyVerbs
from detent.store.sql.auth.people import PersonVerbs
from detent.store.sql.blobs.verbs import BlobVerbs
from detent.store.sql.catalog.verbs import CatalogVerbs
from detent.store.sql.events.verbs import EventVerbs
from detent.store.sql.letter_verbs import LetterVerbs
from detent.store.sql.link_verbs import LinkVerbs
from detent.store.sql.list_verbs import ListVerbs
from detent.store.sql.logs.verbs import LogVerbs
from detent.store.sql.overview_verbs import OverviewVerbs
from detent.store.sql.rule_verbs import ActionTemplateVerbs, AlertVerbs, EntityVerbs, LayoutVerbs
from detent.store.sql.template_verbs import TemplateVerbs
from detent.store.sql.tenants.verbs import TenantVerbs
from detent.store.sql.vault import schema as _vault_tables  # noqa: F401 - the tables of sealed values
from detent.store.sql.vault.credentials import CredentialVerbs
from detent.store.sql.vault.secrets import SecretVerbs
from detent.store.sql.vault.signatures import SignatureVerbs
from detent.store.sql.verbs import TriggerVerbs
from detent.store.sql.workflow_verbs import WorkflowVerbs


class SqlStore:
    """Composes the parts of a store. Each part implements one protocol of `store/protocol.py`."""

    hints: Hints | None = None

    def __init__(
        self,
        access: SqlAccess,
        nodes: NodeStore,
        commands: CommandStore,
        maintenance: MaintenanceStore,
        lists: ListStore | None = None,
        events: EventStore | None = None,
    ) -> None:
        lists = lists or ListVerbs(access)
        events = events or EventVerbs(access)
        triggers = TriggerVerbs(access)
        workflows = WorkflowVerbs(access)
        entities = EntityVerbs(access)
        layouts = LayoutVerbs(access)
        alerts = AlertVerbs(access)
        action_templates = ActionTemplateVerbs(access)
        templates = TemplateVerbs(access)
        overview = OverviewVerbs(access)
        catalog = CatalogVerbs(access)
        links = LinkVerbs(access)
        letters = LetterVerbs(access)
        logs = LogVerbs(access)
        keys = KeyVerbs(access)
        audit = AuditVerbs(access)
        secrets = SecretVerbs(access)
        people = PersonVerbs(access)
        credentials = CredentialVerbs(access)
        signatures = SignatureVerbs(access)
        tenants = TenantVerbs(access)
        blobs = BlobVerbs(access)

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
        self.closed_waits = nodes.closed_waits

        self.deliver = commands.deliver
        self.deliver_many = commands.deliver_many
        self.callback = commands.callback
        self.decide = commands.decide
        self.send_many = commands.send_many
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
        self.journals_of = commands.journals_of
        self.step_ends = commands.step_ends
        self.callbacks = commands.callbacks
        self.active_run = commands.active_run
        self.timeline = commands.timeline
        self.kept = commands.kept

        self.look_at_runs = lists.look_at_runs
        self.mark_runs = lists.mark_runs
        self.group_runs = lists.group_runs
        self.count_open = lists.count_open
        self.workflow_names = lists.workflow_names
        self.count_steps = lists.count_steps
        self.count_in_ranges = lists.count_in_ranges
        self.count_failed = lists.count_failed
        self.stuck = lists.stuck
        self.hero_types = lists.hero_types
        self.heroes = lists.heroes
        self.find_workflows = lists.find_workflows
        self.find_triggers = lists.find_triggers

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

        self.add_entity = entities.add_entity
        self.change_entity = entities.change_entity
        self.entity = entities.entity
        self.entities = entities.entities
        self.drop_entity = entities.drop_entity
        self.entity_rules = entities.entity_rules
        self.layout = layouts.layout
        self.save_layout = layouts.save_layout
        self.add_alert = alerts.add_alert
        self.alert = alerts.alert
        self.alerts = alerts.alerts
        self.count_alerts = alerts.count_alerts
        self.settle_alert = alerts.settle_alert
        self.prune_alerts = alerts.prune_alerts
        self.save_action_template = action_templates.save_action_template
        self.action_template = action_templates.action_template
        self.action_templates = action_templates.action_templates
        self.drop_action_template = action_templates.drop_action_template

        self.add_workflow_template = templates.add_workflow_template
        self.workflow_template = templates.workflow_template
        self.workflow_templates = templates.workflow_templates
        self.drop_workflow_template = templates.drop_workflow_template
        self.save_template_set = templates.save_template_set
        self.template_set = templates.template_set
        self.template_sets = templates.template_sets
        self.add_document = templates.add_document
        self.document = templates.document
        self.documents = templates.documents
        self.document_versions = templates.document_versions
        self.sets_with = templates.sets_with
        self.enable_document = templates.enable_document

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

        self.add_events = events.add_events
        self.take_events = events.take_events
        self.end_events = events.end_events
        self.defer_events = events.defer_events
        self.has_older_event = events.has_older_event
        self.samples = events.samples
        self.prune_samples = events.prune_samples
        self.count_events = events.count_events

        self.active_waits = overview.active_waits
        self.count_waits = overview.count_waits
        self.deadlines = overview.deadlines
        self.received = overview.received
        self.newest_firings = overview.newest_firings
        self.entry_marks = overview.entry_marks
        self.owned_counts = overview.owned_counts
        self.owned_queues = overview.owned_queues
        self.queues = overview.queues
        self.database_bytes = overview.database_bytes
        self.stored_bytes = overview.stored_bytes

        self.save_connector = catalog.save_connector
        self.connectors = catalog.connectors
        self.connector = catalog.connector
        self.enable_connector = catalog.enable_connector
        self.remove_connector = catalog.remove_connector
        self.actions = catalog.actions
        self.action = catalog.action
        self.newest_actions = catalog.newest_actions
        self.action_names = catalog.action_names
        self.enable_action = catalog.enable_action
        self.link_owners = links.link_owners
        self.hand_over_links = links.hand_over_links
        self.run_links = links.run_links
        self.find_links = links.find_links
        self.reserve = links.reserve
        self.fulfil = links.fulfil

        self.letters = letters.letters
        self.letter = letters.letter
        self.count_letters = letters.count_letters
        self.take_letter = letters.take_letter
        self.settle_letter = letters.settle_letter
        self.drop_letters = letters.drop_letters
        self.prune_letters = letters.prune_letters

        self.log_rows = logs.log_rows
        self.prune_logs = logs.prune_logs

        self.auth_stamp = keys.auth_stamp
        self.add_key = keys.add_key
        self.add_first_key = keys.add_first_key
        self.key = keys.key
        self.own_key = keys.own_key
        self.keys = keys.keys
        self.revoke_key = keys.revoke_key
        self.rotate_key = keys.rotate_key
        self.use_key = keys.use_key
        self.tenant_of = tenants.tenant_of
        self.add_tenant = tenants.add_tenant
        self.tenant = tenants.tenant
        self.tenants = tenants.tenants
        self.limited_tenants = tenants.limited_tenants
        self.change_tenant = tenants.change_tenant
        self.owned_tables = tenants.owned_tables
        self.owned_rows = tenants.owned_rows
        self.wipe_tenant = tenants.wipe_tenant
        self.drop_tenant = tenants.drop_tenant

        self.add_audits = audit.add_audits
        self.finish_audit = audit.finish_audit
        self.audits = audit.audits
        self.prune_audits = audit.prune_audits

        self.put_secret = secrets.put_secret
        self.secret = secrets.secret
        self.secrets_named = secrets.secrets_named
        self.secrets = secrets.secrets
        self.reseal_secret = secrets.reseal_secret
        self.drop_secret = secrets.drop_secret
        self.changed_secrets = secrets.changed_secrets
        self.tenant_of_run = secrets.tenant_of_run

        self.active_tenant = people.active_tenant
        self.tenant_name = people.tenant_name
        self.add_person = people.add_person
        self.person = people.person
        self.person_named = people.person_named
        self.people = people.people
        self.change_person = people.change_person
        self.add_session = people.add_session
        self.session = people.session
        self.sessions = people.sessions
        self.see_session = people.see_session
        self.end_session = people.end_session
        self.add_handshake = people.add_handshake
        self.take_handshake = people.take_handshake
        self.put_credential = credentials.put_credential
        self.credential = credentials.credential
        self.credentials = credentials.credentials
        self.credential_states = credentials.credential_states
        self.drop_credential = credentials.drop_credential
        self.lease_credential = credentials.lease_credential
        self.release_credential = credentials.release_credential
        self.renew_credential = credentials.renew_credential
        self.refuse_credential = credentials.refuse_credential
        self.reseal_credential = credentials.reseal_credential
        self.await_credential = credentials.await_credential
        self.awaiting_runs = credentials.awaiting_runs
        self.forget_awaiting = credentials.forget_awaiting

        self.begin_upload = blobs.begin_upload
        self.touch_upload = blobs.touch_upload
        self.add_chunk = blobs.add_chunk
        self.finish_upload = blobs.finish_upload
        self.blob = blobs.blob
        self.blobs = blobs.blobs
        self.chunk = blobs.chunk
        self.use_blobs = blobs.use_blobs
        self.drop_uses = blobs.drop_uses
        self.drop_blobs = blobs.drop_blobs
        self.stale_uploads = blobs.stale_uploads
        self.doom_upload = blobs.doom_upload
        self.drop_upload = blobs.drop_upload

        self.signed_texts = signatures.signed_texts
        self.replace_text = signatures.replace_text

        self.now = maintenance.now
        self.check = maintenance.check
        self.setting = maintenance.setting
        self.change_setting = maintenance.change_setting
        self.orphans = maintenance.orphans
        self.prune = maintenance.prune
        self.prune_tenant = maintenance.prune_tenant
        self.compact = maintenance.compact
        self.tidy = maintenance.tidy
        self.examine = maintenance.examine
        self.close = maintenance.close

    def for_tenant(self, tenant: int) -> Store:
        return self
