/** What operations of the page need: lines of the server's policy (`detent/auth/policy.py`), which a test compares. The
 * server decides; this only says so before a person has tried. */
const EXECUTE = "workflows:execute";
const MANAGE = "workflows:manage";
const METRICS = "metrics:read";
const KEYS = "keys:manage";
const SECRETS = "secrets:manage";
const AUDIT = "audit:read";
const TENANTS = "tenants:manage";

export const POLICY = {
  trigger_workflow: EXECUTE,
  send_event: EXECUTE,
  cancel_run: EXECUTE,
  pause_run: EXECUTE,
  resume_run: EXECUTE,
  retry_run: EXECUTE,
  rerun_run: EXECUTE,
  fork_run: EXECUTE,
  resolve_run_step: EXECUTE,
  skip_run_step: EXECUTE,
  reattempt_run_step: EXECUTE,
  finish_run: EXECUTE,
  change_many_runs: EXECUTE,
  move_run: EXECUTE,
  move_many_runs: EXECUTE,
  answer_run_step: EXECUTE,
  fire_trigger: EXECUTE,
  backfill_trigger: EXECUTE,
  replay_firing: EXECUTE,
  acknowledge_alert: EXECUTE,
  resolve_alert: EXECUTE,
  purge_dead_letter: EXECUTE,
  requeue_dead_letter: EXECUTE,
  change_many_dead_letters: EXECUTE,
  publish_workflow: MANAGE,
  enable_workflow: MANAGE,
  disable_workflow: MANAGE,
  archive_workflow: MANAGE,
  reactivate_workflow: MANAGE,
  activate_workflow_version: MANAGE,
  discard_workflow_draft: MANAGE,
  create_rule: MANAGE,
  save_rule: MANAGE,
  delete_rule: MANAGE,
  restore_rule: MANAGE,
  activate_rule: MANAGE,
  deactivate_rule: MANAGE,
  create_entity: MANAGE,
  change_entity: MANAGE,
  delete_entity: MANAGE,
  instantiate_workflow_template: MANAGE,
  pause_trigger: MANAGE,
  resume_trigger: MANAGE,
  remove_connector: MANAGE,
  enable_connector: MANAGE,
  disable_connector: MANAGE,
  enable_action: MANAGE,
  disable_action: MANAGE,
  import_openapi: MANAGE,
  import_mcp: MANAGE,
  list_nodes: METRICS,
  list_queues: METRICS,
  get_storage: METRICS,
  list_keys: KEYS,
  create_key: KEYS,
  rotate_key: KEYS,
  revoke_key: KEYS,
  list_users: KEYS,
  create_user: KEYS,
  change_user: KEYS,
  list_secrets: SECRETS,
  set_secret: SECRETS,
  delete_secret: SECRETS,
  list_credentials: SECRETS,
  set_credential: SECRETS,
  delete_credential: SECRETS,
  connect_credential: SECRETS,
  list_audit: AUDIT,
  list_tenants: TENANTS,
  create_tenant: TENANTS,
  change_tenant: TENANTS,
  suspend_tenant: TENANTS,
  resume_tenant: TENANTS,
  export_tenant: TENANTS,
  delete_tenant: TENANTS,
} as const;
export type Operation = keyof typeof POLICY;

/** The scopes that a key can have. */
export const SCOPES = [
  "workflows:read",
  EXECUTE,
  MANAGE,
  "templates:read",
  "templates:manage",
  "workflows:impersonate",
  SECRETS,
  KEYS,
  "limits:manage",
  AUDIT,
  METRICS,
  TENANTS,
] as const;

/** Whether a list of scopes, as the server shows it, has one. */
export function has(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || scopes.includes("*");
}
