/** Made from Detent's OpenAPI document by `make clients`. Not written by hand. */

export interface paths {
    "/api/v1/action-templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List action templates
         * @description List the action templates by name.
         */
        get: operations["listActionTemplates"];
        put?: never;
        /**
         * Create an action template
         * @description Store a configuration that new actions can begin with. A name that is taken is a conflict.
         */
        post: operations["createActionTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/action-templates/{template}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an action template
         * @description Return an action template.
         */
        get: operations["getActionTemplate"];
        /**
         * Replace an action template
         * @description Replace an action template. Rules that were made of it stay as they are.
         */
        put: operations["replaceActionTemplate"];
        post?: never;
        /**
         * Delete an action template
         * @description Delete an action template. Rules that were made of it stay as they are.
         */
        delete: operations["deleteActionTemplate"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/action-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List action types
         * @description List the types of actions that every rule can use, with the JSON Schemas of their configs. An action of the
         *     catalog, `GET /api/v1/actions`, can be used as a type too.
         */
        get: operations["listActionTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List actions
         * @description List the actions by id, each in its newest version and without its schemas.
         */
        get: operations["listActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actions/{action}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an action
         * @description Return an action with the JSON Schemas of its parameters and its output.
         */
        get: operations["getAction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actions/{action}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable an action
         * @description Forbid to publish workflows with an action. Published ones go on.
         */
        post: operations["disableAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actions/{action}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable an action
         * @description Allow workflows to be published with an action.
         */
        post: operations["enableAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actions/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count actions
         * @description Count the actions by connector, category and tag: the values by which their list can be narrowed.
         */
        get: operations["countActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts
         * @description List the alerts, newest first.
         */
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an alert
         * @description Return an alert.
         */
        get: operations["getAlert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an alert
         * @description Record that you have seen an alert. The first one who does so counts. A resolved alert is a conflict.
         */
        post: operations["acknowledgeAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an alert
         * @description Record that the cause of an alert is gone. An alert that is resolved stays as it is.
         */
        post: operations["resolveAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List connectors
         * @description List the connectors by id, each in its newest version.
         */
        get: operations["listConnectors"];
        put?: never;
        /**
         * Add a connector
         * @description Add a connector, or a new version of one, from a manifest in JSON or YAML. A version never changes: other content
         *     needs another version.
         */
        post: operations["addConnector"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/{connector}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a connector
         * @description Return a connector in its newest version. `missing` names the environment variables that it needs and this
         *     process does not have.
         */
        get: operations["getConnector"];
        put?: never;
        post?: never;
        /**
         * Remove a connector
         * @description Remove a connector and return it as it was. Workflows that were published with its actions go on, and no further
         *     one can be. A connector that Detent ships can only be disabled.
         */
        delete: operations["removeConnector"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/{connector}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions of a connector
         * @description List the actions of a connector by id, without their schemas.
         */
        get: operations["listConnectorActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/{connector}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a connector
         * @description Forbid to publish workflows with actions of a connector. Published ones go on.
         */
        post: operations["disableConnector"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/{connector}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a connector
         * @description Allow workflows to be published with actions of a connector.
         */
        post: operations["enableConnector"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/{connector}/upgrade": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upgrade the workflows of a connector
         * @description Give each active workflow that pins older versions of the actions of a connector a new version, which pins newer
         *     ones. Without `to` that is the newest version of each action, unless its first number is another one. A workflow
         *     that the newer actions would break stays as it is, and is named with its problems. With `dry_run` nothing is
         *     written.
         */
        post: operations["upgradeConnector"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/import/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import the tools of an MCP server
         * @description Make a connector of the tools of an MCP server that is reached over HTTP. `tools` is what its `tools/list`
         *     returns; without it, Detent asks the server, as far as the egress guard allows it. With `with_token` its calls carry
         *     the token of the connector.
         */
        post: operations["importMcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connectors/import/openapi": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import an OpenAPI document
         * @description Make a connector of an OpenAPI 3.x or Swagger 2 document: each operation becomes an action. Without a body the
         *     document is read from `url`, as far as the egress guard allows it. For a connector that exists, the answer says what
         *     has changed and which steps of active workflows have to change. They go on with the version of the action that they
         *     pin.
         */
        post: operations["importOpenapi"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List dead letters
         * @description List what Detent gave up, newest first: steps that killed their nodes, runs that it cannot read or plan, and
         *     firings and events that cannot start a run.
         */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters/{letter}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a dead letter
         * @description Return a dead letter with its payload.
         */
        get: operations["getDeadLetter"];
        put?: never;
        post?: never;
        /**
         * Purge a dead letter
         * @description Delete a dead letter and return it as it was. Its run or its firing stays as it is.
         */
        delete: operations["purgeDeadLetter"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters/{letter}/requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Requeue a dead letter
         * @description Try again what was given up, once: retry the run of a step, resume a run, or fire again with the request of a
         *     firing, or start the rule of an entity event. `result` is the run or the firing that comes of it.
         */
        post: operations["requeueDeadLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Requeue or purge many dead letters
         * @description Requeue or purge the oldest `limit` dead letters that match `filter`, which has the fields of the list. Unless
         *     `dry_run` is false, only count them. An empty filter needs `all`.
         */
        post: operations["changeManyDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List entities
         * @description List the entities by name.
         */
        get: operations["listEntities"];
        put?: never;
        /**
         * Add an entity
         * @description Add a kind of records that rules can watch. `fields` is the JSON Schema of a record; with it, a rule that reads
         *     another field is refused. A name that is taken is a conflict.
         */
        post: operations["createEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/entities/{entity}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an entity
         * @description Return an entity by id or by name.
         */
        get: operations["getEntity"];
        /**
         * Change an entity
         * @description Replace the title and the fields of an entity. Its name never changes. Rules are checked against the new fields
         *     when they are saved again.
         */
        put: operations["changeEntity"];
        post?: never;
        /**
         * Delete an entity
         * @description Delete an entity. An entity that has rules is a conflict.
         */
        delete: operations["deleteEntity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/entities/{entity}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the last events of an entity
         * @description Show the last 50 events of an entity, newest first, with the records before and after.
         */
        get: operations["listEntityEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event
         * @description Fire every event trigger that listens to the type of the event: `order.paid`, `order.*` or `*`. `data` is
         *     `trigger.body`. A repeated `id` returns the firings that it made first.
         */
        post: operations["sendEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/entity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send events of records
         * @description Say that a record was created, updated or deleted; every active rule of its entity that matches is started once.
         *
         *     Send one event, or a list of up to 1,000; then the answer is a list too. An event that is answered is durable.
         */
        post: operations["sendEntityEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs
         * @description List runs, newest first. Every filter narrows the list; an unknown filter is refused. Names in camelCase, and
         *     statuses such as `Succeeded`, are accepted too. A filter without an index looks at 50,000 runs at most:
         *     `searched_until` then says how far, and the next page, after one that may be empty, goes on from there.
         */
        get: operations["listExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Return a run with the state, attempts and result of each step. With `wait` the answer is delayed until the run
         *     has ended or the time is over.
         */
        get: operations["getExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description Cancel a run and return it. `cancel_requested` is true if its node has not applied it within two seconds.
         */
        post: operations["cancelExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try an expression on the data of a run
         * @description Evaluate an `expression` (as a condition) or a `template` (any JSON with `{{ }}`) on the data of a run. Nothing
         *     is changed. With `step` it reads what that step could read before it ended, and `now()` is when it became ready;
         *     otherwise it reads the whole run. A problem of the expression is part of the answer, with its position.
         */
        post: operations["evaluateExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a run
         * @description List the entries of the journal in order: those `after` an entry, at most `limit`. With `wait` (a duration up to
         *     60s) the answer is delayed until there is an entry or the run has ended. `next_cursor` is the `after` of the next
         *     request. It is null when the run has ended and this was the last entry.
         */
        get: operations["listExecutionEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a whole run
         * @description Return a run as a file: `json` has its document, its definition and its journal. `test` is a test for pytest that
         *     repeats it with the results of its steps, as `detent runs show --as-test` prints it. `test-yaml` is such a test in
         *     text, for `detent test`.
         */
        get: operations["exportExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a run
         * @description Complete a run with the output of its last step. Steps that have not ended are skipped; attempts in flight are
         *     stopped.
         */
        post: operations["finishExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a new run at a step
         * @description Start a new run on the same version, at a step. Results of steps that do not depend on it are reused. With
         *     `output` the step does not run: `output` becomes its result (of an HTTP step with `status_code`, by default 200).
         *     In a run of a durable function `step` may be an operation, such as `charge#2` or the name of a wait. The operations
         *     that ended before it are reused.
         */
        post: operations["forkExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the graph of a run
         * @description Return the steps and edges of the version that the run has, and which edges were taken. The graph of a durable
         *     function has its operations so far.
         */
        get: operations["getExecutionGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/hierarchy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the parents and children of a run
         * @description Return the tree of parents and children of a run. Its root is the run that was started first. The pages of a map
         *     are left out: the runs that they started are in `maps` of the run that has the map.
         */
        get: operations["getExecutionHierarchy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the attempts of a run
         * @description List every attempt that has ended, in the order of the ends, with its outcome. A step that was skipped has a row
         *     too, and so has the step that a run was at when it was cancelled.
         */
        get: operations["listExecutionHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a run to another version
         * @description Move a run in flight to another version of its workflow, by default the current one. `names` has the new names of
         *     renamed steps. What has ended stays as it is. Active steps keep their attempts and times. The move is refused, with
         *     every reason, if the new version could not have led to what the run has done. Attempts in flight end first. With
         *     `dry_run` nothing is changed.
         */
        post: operations["moveExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/outline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the outline of a run
         * @description Return a run at a glance: why it does not go on, and each step with its status, times and tries, without bodies.
         *     With `at` it is as the journal had it then.
         */
        get: operations["getExecutionOutline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a run
         * @description Pause a run: attempts in flight finish, and no new attempt starts. `pause_requested` is true if its node has not
         *     applied it yet.
         */
        post: operations["pauseExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/reattempt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a step of a run again
         * @description Run a step again in the same run, at once or after `wait` (seconds, or a text such as `10m`). Without a name it
         *     is the step that the run is at. An attempt in flight is stopped, and its outcome does not count. A paused run goes
         *     on.
         */
        post: operations["reattemptExecutionStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run the workflow again
         * @description Start a new run from the beginning, on the current version of the workflow, with the same input or another.
         */
        post: operations["rerunExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a run
         * @description Resume a paused run. `resume_requested` is true if its node has not applied it yet.
         */
        post: operations["resumeExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview a retry
         * @description Say what a retry would keep, and which steps would run again or be decided again. Nothing is started.
         */
        get: operations["previewExecutionRetry"];
        put?: never;
        /**
         * Retry a run
         * @description Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
         *     steps that succeeded before them are reused; these steps do not run again. The old run does not change. With
         *     `version: current` the new run has the current version of the workflow, for example one in which a step is
         *     mended.
         */
        post: operations["retryExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/signals/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a signal to a run
         * @description Send a signal to a durable function. The body is the data of the signal, any JSON. The run must be one of a
         *     durable function and must not have ended. The function may wait for the signal before or after it is sent. It
         *     receives each signal once, in order.
         */
        post: operations["signalExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip a step of a run
         * @description Skip a step, or without a name the step that the run is at. The step ends `skipped`, also during an attempt. The
         *     run goes on with the next steps, also if it was paused. `skip_requested` is true if its node has not applied it
         *     yet.
         */
        post: operations["skipExecutionStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/steps/{step}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one step of a run
         * @description Return everything about one step: its parameters as written and as sent, each expression with its value, its
         *     output, its error with the frames of the traceback, and its attempts. A value of more than 32 KB is replaced by its
         *     size and its beginning, unless `whole` is true.
         */
        get: operations["getExecutionStep"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/steps/{step}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a wait step of a run
         * @description Answer a wait step by its run and its name instead of by its token. Everything else is as with `/wh/{token}`: the
         *     body becomes the step's `body`, the answer is durable and counts once.
         */
        post: operations["answerExecutionStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/steps/{step}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the items of a map
         * @description List the items of a step that runs for each item of a list, in their order, with status and result. A page may
         *     have fewer items than `limit`, also none, although there are more; `next_cursor` is null on the last one.
         */
        get: operations["listExecutionItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/steps/{step}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve a step of unknown outcome
         * @description Say whether a step with `on_crash: ask` happened whose node died during it. Only a person can find that out. If
         *     it happened, the step ends `success` with `output`; if not, `failed`. The run goes on when no step is uncertain.
         */
        post: operations["resolveExecutionStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a run live
         * @description Stream the journal as Server-Sent Events: an `entry` for each entry, with its `seq` as `id`. The last event is an
         *     `end` with the run's status. After a lost connection, `Last-Event-ID` (or `after`) continues after that entry.
         */
        get: operations["streamExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{run}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain why a run does not go on
         * @description Explain why a run does not go on. The first reason is what blocks it: a callback, a sleep, a retry that is not
         *     due, a missing node. The steps that wait for it follow. For a run that has ended, explain how it ended.
         */
        get: operations["explainExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel, pause, resume, retry or rerun many runs
         * @description Apply an action to the oldest `limit` runs that match `filter`, which has the fields of the list of runs. Unless
         *     `dry_run` is false, only count the runs that match. A filter without a status matches the runs that allow the
         *     action. A run is retried or rerun this way only once. `version` is that of a retry: `same` or `current`.
         */
        post: operations["changeManyExecutions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the runs of the saved views
         * @description Return how many runs each saved view has, each counted up to 10,000.
         */
        get: operations["readExecutionCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count runs by workflow, trigger, status and label
         * @description Return the values by which the runs of a filter can be narrowed, the 20 most frequent of each kind. At most the
         *     newest 10,000 runs are counted, and a filter without an index looks at 50,000 at most; `sampled` says that there are
         *     more, and `searched_until` how far back they were counted.
         */
        get: operations["readExecutionFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/histogram": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count runs by time and state
         * @description Return how many runs were accepted when, and what has become of them. Slots of schedules that are still to come
         *     are counted too, unless a filter other than `workflow` is given. With such a filter 50,000 runs are looked at, the
         *     newest first; `searched_until` says how far.
         */
        get: operations["readExecutionHistogram"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move many runs to another version
         * @description Move the oldest `limit` open runs of a workflow that match `filter`, which must name the workflow. Unless
         *     `dry_run` is false, only say which runs could be moved and which not, with the reasons, in groups. Each move that is
         *     sent is checked again by the node of its run. A move that is refused there is an entry `moved` of the run, with the
         *     status `refused` and the reasons.
         */
        post: operations["moveManyExecutions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the firings of all triggers
         * @description List what all triggers received, newest first, including refused and ignored requests. With a filter, an answer
         *     looks at a bounded number of firings: `searched_until` says how far back, and the cursor goes on.
         */
        get: operations["listAllFirings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/heroes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List heroes
         * @description List the business objects that runs are about, by type and id, each with its number of runs and the newest.
         */
        get: operations["listHeroes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/heroes/{hero_type}/{hero_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List everything that happened to a hero
         * @description List the journal entries of all runs of a hero in the order of time, with the start of each run.
         */
        get: operations["tellHeroTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get who asks, and what this server is
         * @description Return the caller with its scopes, the time and version of the server, its limits and its features.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List nodes
         * @description List the registered nodes: what they serve, how many runs they own, and whether their lease is valid.
         */
        get: operations["listNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List queues
         * @description List the queues that have open runs or that a node serves, with the number of runs that wait for a node.
         */
        get: operations["listQueues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find the runs that have resources of other systems
         * @description List the resources of other systems that steps have linked, by system, type and id. Each belongs to one run.
         */
        get: operations["listResources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List rules
         * @description List the rules by key, without their actions and edges.
         */
        get: operations["listRules"];
        put?: never;
        /**
         * Create a rule with all of its actions and edges
         * @description Save a new rule in one transaction: its actions, its edges and its layout, or nothing of it. The answer has the
         *     ids of everything. Its key is the slug of its name; a key that is taken is a conflict. All problems are in the
         *     answer at once.
         */
        post: operations["createRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a rule
         * @description Return a rule by id or by key, with its actions, its edges and its layout. Its `ETag` is for `If-Match`.
         */
        get: operations["getRule"];
        /**
         * Save a rule with all of its actions and edges
         * @description Save a rule in one transaction: its actions, its edges and its layout, or nothing of it. Actions with a known id
         *     keep it, and their step; actions that are not sent are removed. An unchanged edge keeps its id. What was saved is a
         *     new version, unless a version has the same content. Runs in flight stay on their version.
         */
        put: operations["saveRule"];
        post?: never;
        /**
         * Delete a rule
         * @description Delete a rule. Nothing starts it any more, and its key is free. Runs in flight go on to their end.
         */
        delete: operations["deleteRule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions of a rule
         * @description List the actions of a rule in their order.
         */
        get: operations["listRuleActions"];
        put?: never;
        /**
         * Add an action to a rule
         * @description Add an action, with the `edges` that lead to it and from it. They call it `new`, and an edge without
         *     `target_action_id` leads to it. An action that no edge leads to is refused.
         */
        post: operations["addRuleAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/actions/{action}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an action of a rule
         * @description Return an action of a rule by its id or its step.
         */
        get: operations["getRuleAction"];
        /**
         * Replace an action of a rule
         * @description Replace an action, all but its id and its step.
         */
        put: operations["replaceRuleAction"];
        post?: never;
        /**
         * Remove an action from a rule
         * @description Remove an action and its edges. If an action behind it could not be reached any more, the request is refused,
         *     unless `reconnect` is true.
         */
        delete: operations["removeRuleAction"];
        options?: never;
        head?: never;
        /**
         * Change an action of a rule
         * @description Change the fields of an action that are sent; `null` removes one. Its id and its step stay.
         */
        patch: operations["changeRuleAction"];
        trace?: never;
    };
    "/api/v1/rules/{rule}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate a rule
         * @description Let events, schedules and callers start the rule, from the next event on. No version is made.
         */
        post: operations["activateRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deactivate a rule
         * @description Let nothing start the rule until it is activated again. Runs in flight go on. No version is made.
         */
        post: operations["deactivateRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/edges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the edges of a rule
         * @description List the edges of a rule.
         */
        get: operations["listRuleEdges"];
        put?: never;
        /**
         * Add an edge to a rule
         * @description Add an edge between actions of a rule.
         */
        post: operations["addRuleEdge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/edges/{edge}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an edge of a rule
         * @description Return an edge of a rule.
         */
        get: operations["getRuleEdge"];
        /**
         * Replace an edge of a rule
         * @description Replace an edge. An edge with other ends or another type has another id.
         */
        put: operations["replaceRuleEdge"];
        post?: never;
        /**
         * Remove an edge from a rule
         * @description Remove an edge. If an action could not be reached any more, the request is refused.
         */
        delete: operations["removeRuleEdge"];
        options?: never;
        head?: never;
        /**
         * Change an edge of a rule
         * @description Change the fields of an edge that are sent. An edge with other ends or another type has another id.
         */
        patch: operations["changeRuleEdge"];
        trace?: never;
    };
    "/api/v1/rules/{rule}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a rule
         * @description List the runs of a rule, newest first. Filters and pages are those of `GET /api/v1/runs`.
         */
        get: operations["listRuleExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what events did to a rule
         * @description List the runs that events started of a rule, and the events that could not start it, newest first. Events that
         *     do not match are not listed.
         */
        get: operations["listRuleFirings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/full": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Save a rule with all of its actions and edges
         * @description Save a rule in one transaction: its actions, its edges and its layout, or nothing of it. Actions with a known id
         *     keep it, and their step; actions that are not sent are removed. An unchanged edge keeps its id. What was saved is a
         *     new version, unless a version has the same content. Runs in flight stay on their version.
         */
        put: operations["saveRuleFull"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what changed from version to version
         * @description List the versions of a rule, newest first, each with its author and what differs from the version before.
         */
        get: operations["listRuleHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/layout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the layout of a rule
         * @description Change where the nodes of a rule are on a canvas. What is sent replaces what is stored; a position of `null` is
         *     removed. The last writer wins. Neither the version of the rule nor its `ETag` changes.
         */
        patch: operations["changeLayout"];
        trace?: never;
    };
    "/api/v1/rules/{rule}/recent-matches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show which of the last events a rule matches
         * @description Show the last 50 events of a rule's entity, newest first, whether the rule matches each, and why not. The rule
         *     need not be active.
         */
        get: operations["listRecentMatches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a rule
         * @description List the runs of a rule, newest first. Filters and pages are those of `GET /api/v1/runs`.
         */
        get: operations["listRuleRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a rule
         * @description List the versions of a rule, newest first, each with its author.
         */
        get: operations["listRuleVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/versions/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version of a rule
         * @description Return a rule as one of its versions has it, with the layout of today.
         */
        get: operations["getRuleVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{rule}/versions/{number}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a version of a rule
         * @description Make a version of a rule its current one. Actions and edges have the ids that they had. The rule stays active or
         *     inactive as it is.
         */
        post: operations["restoreRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/full": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a rule with all of its actions and edges
         * @description Save a new rule in one transaction: its actions, its edges and its layout, or nothing of it. The answer has the
         *     ids of everything. Its key is the slug of its name; a key that is taken is a conflict. All problems are in the
         *     answer at once.
         */
        post: operations["createRuleFull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/match": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask which rules an event matches
         * @description Say for an event which active rules of its entity match it, and which part of which condition is false.
         *
         *     With `rule` the answer is about that rule only, active or not. Nothing is stored and nothing is started.
         */
        post: operations["matchRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs
         * @description List runs, newest first. Every filter narrows the list; an unknown filter is refused. Names in camelCase, and
         *     statuses such as `Succeeded`, are accepted too. A filter without an index looks at 50,000 runs at most:
         *     `searched_until` then says how far, and the next page, after one that may be empty, goes on from there.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Return a run with the state, attempts and result of each step. With `wait` the answer is delayed until the run
         *     has ended or the time is over.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description Cancel a run and return it. `cancel_requested` is true if its node has not applied it within two seconds.
         */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try an expression on the data of a run
         * @description Evaluate an `expression` (as a condition) or a `template` (any JSON with `{{ }}`) on the data of a run. Nothing
         *     is changed. With `step` it reads what that step could read before it ended, and `now()` is when it became ready;
         *     otherwise it reads the whole run. A problem of the expression is part of the answer, with its position.
         */
        post: operations["evaluateRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a run
         * @description List the entries of the journal in order: those `after` an entry, at most `limit`. With `wait` (a duration up to
         *     60s) the answer is delayed until there is an entry or the run has ended. `next_cursor` is the `after` of the next
         *     request. It is null when the run has ended and this was the last entry.
         */
        get: operations["listRunEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a whole run
         * @description Return a run as a file: `json` has its document, its definition and its journal. `test` is a test for pytest that
         *     repeats it with the results of its steps, as `detent runs show --as-test` prints it. `test-yaml` is such a test in
         *     text, for `detent test`.
         */
        get: operations["exportRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a run
         * @description Complete a run with the output of its last step. Steps that have not ended are skipped; attempts in flight are
         *     stopped.
         */
        post: operations["finishRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a new run at a step
         * @description Start a new run on the same version, at a step. Results of steps that do not depend on it are reused. With
         *     `output` the step does not run: `output` becomes its result (of an HTTP step with `status_code`, by default 200).
         *     In a run of a durable function `step` may be an operation, such as `charge#2` or the name of a wait. The operations
         *     that ended before it are reused.
         */
        post: operations["forkRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the graph of a run
         * @description Return the steps and edges of the version that the run has, and which edges were taken. The graph of a durable
         *     function has its operations so far.
         */
        get: operations["getRunGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/hierarchy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the parents and children of a run
         * @description Return the tree of parents and children of a run. Its root is the run that was started first. The pages of a map
         *     are left out: the runs that they started are in `maps` of the run that has the map.
         */
        get: operations["getRunHierarchy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the attempts of a run
         * @description List every attempt that has ended, in the order of the ends, with its outcome. A step that was skipped has a row
         *     too, and so has the step that a run was at when it was cancelled.
         */
        get: operations["listRunHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a run to another version
         * @description Move a run in flight to another version of its workflow, by default the current one. `names` has the new names of
         *     renamed steps. What has ended stays as it is. Active steps keep their attempts and times. The move is refused, with
         *     every reason, if the new version could not have led to what the run has done. Attempts in flight end first. With
         *     `dry_run` nothing is changed.
         */
        post: operations["moveRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/outline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the outline of a run
         * @description Return a run at a glance: why it does not go on, and each step with its status, times and tries, without bodies.
         *     With `at` it is as the journal had it then.
         */
        get: operations["getRunOutline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a run
         * @description Pause a run: attempts in flight finish, and no new attempt starts. `pause_requested` is true if its node has not
         *     applied it yet.
         */
        post: operations["pauseRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/reattempt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a step of a run again
         * @description Run a step again in the same run, at once or after `wait` (seconds, or a text such as `10m`). Without a name it
         *     is the step that the run is at. An attempt in flight is stopped, and its outcome does not count. A paused run goes
         *     on.
         */
        post: operations["reattemptRunStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run the workflow again
         * @description Start a new run from the beginning, on the current version of the workflow, with the same input or another.
         */
        post: operations["rerunRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a run
         * @description Resume a paused run. `resume_requested` is true if its node has not applied it yet.
         */
        post: operations["resumeRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview a retry
         * @description Say what a retry would keep, and which steps would run again or be decided again. Nothing is started.
         */
        get: operations["previewRunRetry"];
        put?: never;
        /**
         * Retry a run
         * @description Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
         *     steps that succeeded before them are reused; these steps do not run again. The old run does not change. With
         *     `version: current` the new run has the current version of the workflow, for example one in which a step is
         *     mended.
         */
        post: operations["retryRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/signals/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a signal to a run
         * @description Send a signal to a durable function. The body is the data of the signal, any JSON. The run must be one of a
         *     durable function and must not have ended. The function may wait for the signal before or after it is sent. It
         *     receives each signal once, in order.
         */
        post: operations["signalRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip a step of a run
         * @description Skip a step, or without a name the step that the run is at. The step ends `skipped`, also during an attempt. The
         *     run goes on with the next steps, also if it was paused. `skip_requested` is true if its node has not applied it
         *     yet.
         */
        post: operations["skipRunStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/steps/{step}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one step of a run
         * @description Return everything about one step: its parameters as written and as sent, each expression with its value, its
         *     output, its error with the frames of the traceback, and its attempts. A value of more than 32 KB is replaced by its
         *     size and its beginning, unless `whole` is true.
         */
        get: operations["getRunStep"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/steps/{step}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a wait step of a run
         * @description Answer a wait step by its run and its name instead of by its token. Everything else is as with `/wh/{token}`: the
         *     body becomes the step's `body`, the answer is durable and counts once.
         */
        post: operations["answerRunStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/steps/{step}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the items of a map
         * @description List the items of a step that runs for each item of a list, in their order, with status and result. A page may
         *     have fewer items than `limit`, also none, although there are more; `next_cursor` is null on the last one.
         */
        get: operations["listRunItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/steps/{step}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve a step of unknown outcome
         * @description Say whether a step with `on_crash: ask` happened whose node died during it. Only a person can find that out. If
         *     it happened, the step ends `success` with `output`; if not, `failed`. The run goes on when no step is uncertain.
         */
        post: operations["resolveRunStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a run live
         * @description Stream the journal as Server-Sent Events: an `entry` for each entry, with its `seq` as `id`. The last event is an
         *     `end` with the run's status. After a lost connection, `Last-Event-ID` (or `after`) continues after that entry.
         */
        get: operations["streamRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain why a run does not go on
         * @description Explain why a run does not go on. The first reason is what blocks it: a callback, a sleep, a retry that is not
         *     due, a missing node. The steps that wait for it follow. For a run that has ended, explain how it ended.
         */
        get: operations["explainRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel, pause, resume, retry or rerun many runs
         * @description Apply an action to the oldest `limit` runs that match `filter`, which has the fields of the list of runs. Unless
         *     `dry_run` is false, only count the runs that match. A filter without a status matches the runs that allow the
         *     action. A run is retried or rerun this way only once. `version` is that of a retry: `same` or `current`.
         */
        post: operations["changeManyRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the runs of the saved views
         * @description Return how many runs each saved view has, each counted up to 10,000.
         */
        get: operations["readRunCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count runs by workflow, trigger, status and label
         * @description Return the values by which the runs of a filter can be narrowed, the 20 most frequent of each kind. At most the
         *     newest 10,000 runs are counted, and a filter without an index looks at 50,000 at most; `sampled` says that there are
         *     more, and `searched_until` how far back they were counted.
         */
        get: operations["readRunFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/histogram": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count runs by time and state
         * @description Return how many runs were accepted when, and what has become of them. Slots of schedules that are still to come
         *     are counted too, unless a filter other than `workflow` is given. With such a filter 50,000 runs are looked at, the
         *     newest first; `searched_until` says how far.
         */
        get: operations["readRunHistogram"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move many runs to another version
         * @description Move the oldest `limit` open runs of a workflow that match `filter`, which must name the workflow. Unless
         *     `dry_run` is false, only say which runs could be moved and which not, with the reasons, in groups. Each move that is
         *     sent is checked again by the node of its run. A move that is refused there is an entry `moved` of the run, with the
         *     status `refused` and the reasons.
         */
        post: operations["moveManyRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview a schedule
         * @description List the next slots of a cron expression in its time zone.
         */
        get: operations["previewSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schemas/{form}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the JSON Schema of a form
         * @description Return the JSON Schema of definitions of a form, `graph` or `rule`, or of manifests, `connector`. What the schema
         *     accepts can still be refused: a schema cannot see what refers to what.
         */
        get: operations["readSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find what a text names
         * @description Return workflows and triggers with the text in their name, runs with exactly that id, request id or hero, and
         *     heroes whose id begins with it. It looks at indexes only: `GET /runs?text=` searches more places.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the statistics of workflows
         * @description List how the runs of each workflow went, by name: the last 30 runs, the rate of success, and how long they
         *     took.
         */
        get: operations["listWorkflowStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what the database stores
         * @description Return the size of the database, and what the runs of each workflow take. It is measured at most once an hour.
         */
        get: operations["getStorage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow many things in one stream
         * @description Stream events of several topics: `counts`, `inbox` and `alerts` when they have changed; `runs` with the rows on
         *     screen that have changed, the number of new runs and the rows that were deleted, at most once a second; `firings`
         *     with the number of new firings and the ids of known ones that have another status; `entries` with new entries of a
         *     run's journal. The `id` of an event has the cursors of all topics, so `Last-Event-ID` goes on for each of them. A
         *     comment is sent every 15 s.
         */
        get: operations["streamTopics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/template-sets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List template sets
         * @description List the sets of document templates by id.
         */
        get: operations["listTemplateSets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/template-sets/{template_set}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create or change a template set
         * @description Create a set of document templates, or replace its title, its team and whether it is enabled. No template of a
         *     disabled set can be rendered.
         */
        put: operations["saveTemplateSet"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List document templates
         * @description List the document templates by set and id, each as its newest version, without texts.
         */
        get: operations["listDocumentTemplates"];
        put?: never;
        /**
         * Create a document template
         * @description Create a document template, with its set if that is new. `fields` describes the answers;
         *     `fields.validation.jsonSchema` checks them. `format` is `text`, `markdown` or `html`, which escapes the answers.
         */
        post: operations["createDocumentTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/{template_set}/{template}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a document template of a set
         * @description Return a version of the document template of that set, as `/templates/{template}` does.
         */
        get: operations["getDocumentTemplateOfSet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/{template}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a document template
         * @description Return a version of a document template: its fields, its body and its help. By default it is the newest one that
         *     is enabled.
         */
        get: operations["getDocumentTemplate"];
        /**
         * Add a version of a document template
         * @description Add a version of a document template. Versions before it never change, and steps that name them render them.
         *     With a `set` the template is created if it is new.
         */
        put: operations["saveDocumentTemplate"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/{template}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a document template
         * @description Let a version of a document template not be rendered any more, or all of them.
         */
        post: operations["disableDocumentTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/{template}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a document template
         * @description Let a version of a document template be rendered again, or all of them.
         */
        post: operations["enableDocumentTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/{template}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Render a document
         * @description Render a document of a template and answers, within 2 seconds and 256 KB. Answers that do not match the schema of
         *     the template are refused with every problem.
         */
        post: operations["renderDocumentTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workflow templates
         * @description List the workflow templates by id, those of Detent and your own, without their definitions.
         */
        get: operations["listWorkflowTemplates"];
        put?: never;
        /**
         * Create a workflow template
         * @description Create a workflow template. Texts of its definition have places for values, `${config.NAME}`, and every NAME is a
         *     property of the `config_schema`. An id that is taken is a conflict.
         */
        post: operations["createWorkflowTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/workflows/{template}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a workflow template
         * @description Return a workflow template with its definition and the JSON Schema of its config.
         */
        get: operations["getWorkflowTemplate"];
        put?: never;
        post?: never;
        /**
         * Delete a workflow template
         * @description Delete a workflow template of your own. Workflows made of it stay. Those of Detent cannot be deleted.
         */
        delete: operations["deleteWorkflowTemplate"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/workflows/{template}/instantiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a workflow of a template
         * @description Make the draft of a new workflow. `config` must match the schema of the template. `name` is the name of the
         *     workflow; without it, it is that of `display_name`, in small letters. A name that is taken is a conflict. The draft
         *     can be edited, and is published like any other.
         */
        post: operations["instantiateWorkflowTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List everything that happened to a hero, named in the query
         * @description List the timeline of a hero whose type or id cannot be part of a path. A hero without runs has an empty list.
         */
        get: operations["tellTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trigger-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List trigger types
         * @description List when a rule can run.
         */
        get: operations["listTriggerTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List triggers
         * @description List the triggers in the order of their creation, including those that are part of definitions.
         */
        get: operations["listTriggers"];
        put?: never;
        /**
         * Create a trigger
         * @description Create a trigger of type `cron`, `webhook`, `event` or `manual`. The `url` of a webhook never changes.
         */
        post: operations["createTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a trigger
         * @description Return a trigger. Its secrets are hidden.
         */
        get: operations["getTrigger"];
        /**
         * Change a trigger
         * @description Change the fields that are sent. With `updated_at`, answer 412 if the trigger has changed since then. A trigger
         *     that is part of a definition is changed there.
         */
        put: operations["updateTrigger"];
        /**
         * Call a webhook trigger
         * @description Call a webhook trigger. The whole body is `trigger.body`: JSON, a form, text or bytes. A request that is answered
         *     with 2xx is durable.
         */
        post: operations["callTrigger"];
        /**
         * Delete a trigger
         * @description Delete a trigger and return it as it was. The runs that it started go on.
         */
        delete: operations["deleteTrigger"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fire slots of the past
         * @description Fire the slots from `from` to `to` that have no firing, at most 1,000. Unless `dry_run` is false, only list
         *     them.
         */
        post: operations["backfillTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/fire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fire a trigger now
         * @description Fire a trigger, also if it is paused. Its condition, the workflow's `trigger_schema` and its overlap policy
         *     apply.
         */
        post: operations["fireTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the firings of a trigger
         * @description List the firings of a trigger, newest first, including refused and ignored ones.
         */
        get: operations["listFirings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/firings/{firing}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a firing
         * @description Return a firing with the request that it received.
         */
        get: operations["getFiring"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/firings/{firing}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a firing
         * @description Fire again with the request of an earlier firing. A firing that was refused for its signature cannot be
         *     replayed.
         */
        post: operations["replayFiring"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the next slots
         * @description List the next slots of a cron trigger, also if it is paused.
         */
        get: operations["nextSlotsOfTrigger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a trigger
         * @description Pause a trigger: it does not fire until it is resumed. `note` is the reason, for other people.
         */
        post: operations["pauseTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a trigger
         * @description Resume a trigger from now on. Slots that passed during the pause do not fire.
         */
        post: operations["resumeTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List active waits
         * @description List the waits that are active in all runs, the nearest deadline first; those without one come last.
         */
        get: operations["listWaits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workflows
         * @description List the workflows by name, without their definitions.
         */
        get: operations["listWorkflows"];
        put?: never;
        /**
         * Create a workflow
         * @description Create a workflow from a definition in JSON or YAML. A name that is taken is a conflict; PUT saves a new
         *     version. A form that has to be published is saved as a draft, which a second POST replaces.
         */
        post: operations["createWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a workflow
         * @description Return a workflow by id or by name, with its definition as it was written. Its `ETag` is for `If-Match`.
         *
         *     With `form` the definition is converted, and `fingerprint` is that of its graph. A form that cannot hold the
         *     workflow is refused (400, `not_convertible`) with every step and edge that it cannot hold.
         */
        get: operations["getWorkflow"];
        /**
         * Create a workflow or give it a new version
         * @description Save a definition. It becomes a new version only if no version has its text; otherwise that version becomes the
         *     current one. Runs in flight stay on their version. A form that has to be published is saved as a draft, and so is
         *     every form with `draft`: the current version stays as it is.
         *
         *     A workflow that a folder of files manages is refused (409, `managed_by_files`), unless `folder` names that folder or
         *     `unlock` is true. A save with `folder` sets the label `managed-by`.
         */
        put: operations["saveWorkflow"];
        post?: never;
        /**
         * Delete a workflow
         * @description Delete a workflow. Its name is free again, and it cannot be started any more. Runs in flight go on to their end.
         *     All its runs can still be found by their ids. An active workflow of a form that is published is archived first.
         */
        delete: operations["deleteWorkflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a workflow
         * @description Let nothing start runs of the workflow. Runs in flight go on; runs that have not begun are cancelled when their
         *     time comes. Its triggers stay as they are and do not fire.
         */
        post: operations["archiveWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions of a workflow
         * @description Return the steps, edges and settings that differ, each field with its values before and after.
         */
        get: operations["compareWorkflowVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a workflow
         * @description Allow no start of the workflow until it is enabled again. Runs in flight go on.
         */
        post: operations["disableWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the draft of a workflow
         * @description Return the draft, with its definition as it was written and its problems. Its `ETag` is for `If-Match`.
         */
        get: operations["getWorkflowDraft"];
        put?: never;
        post?: never;
        /**
         * Discard the draft of a workflow
         * @description Delete the draft. The versions stay as they are. A workflow that was never published is deleted instead.
         */
        delete: operations["discardWorkflowDraft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a workflow
         * @description Allow runs of the workflow to be started again. Enabling an enabled workflow changes nothing.
         */
        post: operations["enableWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a run with an envelope
         * @description Start a run. The envelope's `trigger` is `trigger.body`. The default `principal` is the system. Names may be
         *     written in snake_case too. With `dryRun` nothing is started or written: effects are answered from `answers`, from
         *     the run `fromRun`, or from examples.
         */
        post: operations["executeWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/grid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the grid of a workflow
         * @description Return how each step ended in the latest runs, newest first; at most 10,000 cells.
         */
        get: operations["getWorkflowGrid"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish the draft of a workflow
         * @description Make an immutable version of the draft, after checking it completely. The text of an older version makes that
         *     version current. A workflow without a draft is published already, and nothing changes.
         *
         *     With `rehearse` the draft is run over recorded runs first, as `/rehearse` does, and the answer has the `rehearsal`.
         *     `strict` refuses to publish (409, `rehearsal_failed`) if a run would fail or a run in flight could not be moved. The
         *     `details` then have the rehearsal. With `Accept: text/event-stream` the progress is streamed, as of `/rehearse`.
         */
        post: operations["publishWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reactivate an archived workflow
         * @description Let runs of an archived workflow be started again. Its schedules continue with their next slot.
         */
        post: operations["reactivateWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/rehearse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rehearse a draft
         * @description Run a definition over the runs in flight and the finished runs of the last days, with their recorded answers.
         *     Without a body the stored draft is taken, or the `version`. The answer says which runs take the same path, and which
         *     take another and where. It says which would fail and why, and which rendered parameters would differ. It also says
         *     which runs in flight could be moved, and why others cannot. No effect is made and nothing is written.
         *
         *     With `Accept: text/event-stream` the answer is a stream of Server-Sent Events: `progress` with `stage`, `done` and
         *     `total`, then a `result` with the same document, or an `error` with its `status`.
         */
        post: operations["rehearseWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs
         * @description List runs, newest first. Every filter narrows the list; an unknown filter is refused. Names in camelCase, and
         *     statuses such as `Succeeded`, are accepted too. A filter without an index looks at 50,000 runs at most:
         *     `searched_until` then says how far, and the next page, after one that may be empty, goes on from there.
         */
        get: operations["listRunsOfWorkflow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description Return a run with the state, attempts and result of each step. With `wait` the answer is delayed until the run
         *     has ended or the time is over.
         */
        get: operations["getRunOfWorkflow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description Cancel a run and return it. `cancel_requested` is true if its node has not applied it within two seconds.
         */
        post: operations["cancelRunOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a run
         * @description Complete a run with the output of its last step. Steps that have not ended are skipped; attempts in flight are
         *     stopped.
         */
        post: operations["finishRunOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a run to another version
         * @description Move a run in flight to another version of its workflow, by default the current one. `names` has the new names of
         *     renamed steps. What has ended stays as it is. Active steps keep their attempts and times. The move is refused, with
         *     every reason, if the new version could not have led to what the run has done. Attempts in flight end first. With
         *     `dry_run` nothing is changed.
         */
        post: operations["moveRunOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a run
         * @description Pause a run: attempts in flight finish, and no new attempt starts. `pause_requested` is true if its node has not
         *     applied it yet.
         */
        post: operations["pauseRunOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/reattempt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a step of a run again
         * @description Run a step again in the same run, at once or after `wait` (seconds, or a text such as `10m`). Without a name it
         *     is the step that the run is at. An attempt in flight is stopped, and its outcome does not count. A paused run goes
         *     on.
         */
        post: operations["reattemptRunStepOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a run
         * @description Resume a paused run. `resume_requested` is true if its node has not applied it yet.
         */
        post: operations["resumeRunOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview a retry
         * @description Say what a retry would keep, and which steps would run again or be decided again. Nothing is started.
         */
        get: operations["previewRunRetryOfWorkflow"];
        put?: never;
        /**
         * Retry a run
         * @description Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
         *     steps that succeeded before them are reused; these steps do not run again. The old run does not change. With
         *     `version: current` the new run has the current version of the workflow, for example one in which a step is
         *     mended.
         */
        post: operations["retryRunOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/runs/{run}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip a step of a run
         * @description Skip a step, or without a name the step that the run is at. The step ends `skipped`, also during an attempt. The
         *     run goes on with the next steps, also if it was paused. `skip_requested` is true if its node has not applied it
         *     yet.
         */
        post: operations["skipRunStepOfWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the statistics of a workflow
         * @description Return how the runs of a workflow went.
         */
        get: operations["getWorkflowStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a run
         * @description Start a run. The whole body is `trigger.body`; the rest of the query is `trigger.query`. When this answers, the
         *     run is durable and will come to an end. With `dry_run` nothing is started or written: effects are answered from the
         *     run `from_run`, or from examples, and the answer has the route, each rendered request and the output.
         */
        post: operations["triggerWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/unlock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unlock a workflow that files manage
         * @description Let the workflow be edited elsewhere than in the folder of files that manages it. It gets a version without the
         *     label `managed-by`. Applying the folder locks it again. A workflow that no files manage stays as it is.
         */
        post: operations["unlockWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a workflow
         * @description List the versions, newest first, each with its definition as it was written.
         */
        get: operations["listWorkflowVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/versions/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version of a workflow
         * @description Return one version, with its definition as it was written. A version never changes.
         */
        get: operations["getWorkflowVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/versions/{number}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a version the current one
         * @description Make an older or a newer version the current one. Runs in flight stay on their version.
         */
        post: operations["activateWorkflowVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/versions/{version}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the graph of a version
         * @description Return the steps and edges of a version: its number, `current` or `draft`. They have the same shape for every
         *     form.
         */
        get: operations["getVersionGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say what saving definitions would change
         * @description Compare definitions with what is stored. Nothing is written. A definition that is not valid, or that another
         *     folder of files manages, is `invalid`, with its problems.
         */
        post: operations["planWorkflows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive
         * @description Answer `ok` while the process answers at all.
         */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can it take work
         * @description Answer `ok` while the engine can take work and the database can be written. Otherwise answer 503; `message` says
         *     why.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflow/action-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List action types, with a bare answer
         * @description List the types of actions. The answer is the list itself.
         */
        get: operations["listReferenceActionTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflow/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all entities, with a bare answer
         * @description List all entities by name. The answer is the list itself.
         */
        get: operations["listReferenceEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflow/rules/{rule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a rule, with a bare answer
         * @description Return a rule, as `GET /api/v1/rules/{rule}` does. The answer is the rule itself.
         */
        get: operations["getFullRule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflow/rules/{rule}/full": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Save a rule, with a bare answer
         * @description Save a rule, as `PUT /api/v1/rules/{rule}` does. The answer is the rule itself.
         */
        put: operations["saveFullRule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflow/rules/{rule}/layout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the layout of a rule
         * @description Change where the nodes of a rule are on a canvas. What is sent replaces what is stored; a position of `null` is
         *     removed. The last writer wins. Neither the version of the rule nor its `ETag` changes.
         */
        patch: operations["changeLayoutBare"];
        trace?: never;
    };
    "/v1/workflow/rules/full": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a rule, with a bare answer
         * @description Save a new rule, as `POST /api/v1/rules` does. The answer is the rule itself.
         */
        post: operations["createFullRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflow/trigger-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List trigger types, with a bare answer
         * @description List when a rule can run. The answer is the list itself.
         */
        get: operations["listReferenceTriggerTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/workflow/resume/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a wait step
         * @description Answer a wait step. The body becomes the step's `body`: JSON, a form, text, or bytes as base64. A callback that
         *     is answered with 2xx is durable and counts exactly once. A repeated `webhook-id` or `Idempotency-Key` gets the first
         *     answer again.
         */
        post: operations["receiveCallbackByWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/workflow/trigger/{workflow}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a workflow by webhook
         * @description Call the webhook trigger of a workflow. A workflow without one is started as by the API, and only from an origin
         *     that may use the API.
         */
        post: operations["callWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wh/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a wait step
         * @description Answer a wait step. The body becomes the step's `body`: JSON, a form, text, or bytes as base64. A callback that
         *     is answered with 2xx is durable and counts exactly once. A repeated `webhook-id` or `Idempotency-Key` gets the first
         *     answer again.
         */
        post: operations["receiveCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** ActionChangeDocument */
        ActionChangeDocument: {
            action: string;
            breaks: string[];
        };
        /** ActionDocument */
        ActionDocument: {
            attempt: number;
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            /** Format: date-time */
            finished_at: string;
            probe?: components["schemas"]["ProbeDocument"] | null;
            retry_at: string | null;
            /** Format: date-time */
            started_at: string;
            status: string | null;
            step: string;
            type: string;
        };
        /** ActionFacetsDocument */
        ActionFacetsDocument: {
            categories: components["schemas"]["FacetValue"][];
            connectors: components["schemas"]["FacetValue"][];
            tags: components["schemas"]["FacetValue"][];
        };
        /** One[ActionFacetsDocument] */
        ActionFacetsDocumentAnswer: {
            data: components["schemas"]["ActionFacetsDocument"];
        };
        /** ActionTemplateDocument */
        ActionTemplateDocument: {
            action_type: string;
            created_by: string;
            /** Format: date-time */
            created_date: string;
            default_config: {
                [key: string]: unknown;
            };
            description: string;
            id: string;
            is_active: boolean;
            name: string;
            /** Format: date-time */
            updated_date: string;
        };
        /** One[ActionTemplateDocument] */
        ActionTemplateDocumentAnswer: {
            data: components["schemas"]["ActionTemplateDocument"];
        };
        /** Many[ActionTemplateDocument] */
        ActionTemplateDocumentPage: {
            data: components["schemas"]["ActionTemplateDocument"][];
            next_cursor?: string | null;
        };
        /** ActionTypeDocument */
        ActionTypeDocument: {
            category: string;
            config_schema: {
                [key: string]: unknown;
            };
            description: string;
            has_branches: boolean;
            id: string;
            name: string;
            title: string;
        };
        /** Many[ActionTypeDocument] */
        ActionTypeDocumentPage: {
            data: components["schemas"]["ActionTypeDocument"][];
            next_cursor?: string | null;
        };
        /** AlertDocument */
        AlertDocument: {
            acknowledged_by: string | null;
            acknowledged_date: string | null;
            alert_type: string;
            context: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            created_date: string;
            id: string;
            message: string;
            resolved_by: string | null;
            resolved_date: string | null;
            rule: string;
            rule_id: string;
            rule_name: string | null;
            run_id: string;
            severity: string;
            status: string;
            step: string;
            title: string;
        };
        /** One[AlertDocument] */
        AlertDocumentAnswer: {
            data: components["schemas"]["AlertDocument"];
        };
        /** Many[AlertDocument] */
        AlertDocumentPage: {
            data: components["schemas"]["AlertDocument"][];
            next_cursor?: string | null;
        };
        /** AttemptDocument */
        AttemptDocument: {
            attempt: number;
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            /** Format: date-time */
            finished_at: string;
            probe?: components["schemas"]["ProbeDocument"] | null;
            retry_at: string | null;
            /** Format: date-time */
            started_at: string;
            status: string | null;
        };
        /** BackfillDocument */
        BackfillDocument: {
            dry_run: boolean;
            firings: components["schemas"]["BackfilledSlot"][];
            matched: number;
            slots: string[];
        };
        /** One[BackfillDocument] */
        BackfillDocumentAnswer: {
            data: components["schemas"]["BackfillDocument"];
        };
        /** BackfilledSlot */
        BackfilledSlot: {
            firing_id: string;
            /** Format: date-time */
            slot: string;
            status: string;
        };
        /** BrokenStepDocument */
        BrokenStepDocument: {
            action: string;
            problems: string[];
            step: string;
            workflow: string;
        };
        /** BulkDocument */
        BulkDocument: {
            action: string;
            done: number;
            dry_run: boolean;
            matched: number;
            more: boolean;
            previews?: components["schemas"]["RetryPreviewDocument"][];
            refused: components["schemas"]["RefusedDocument"][];
        };
        /** One[BulkDocument] */
        BulkDocumentAnswer: {
            data: components["schemas"]["BulkDocument"];
        };
        /** BulkLettersDocument */
        BulkLettersDocument: {
            action: string;
            done: number;
            dry_run: boolean;
            matched: number;
            more: boolean;
            refused: components["schemas"]["RefusedLetter"][];
        };
        /** One[BulkLettersDocument] */
        BulkLettersDocumentAnswer: {
            data: components["schemas"]["BulkLettersDocument"];
        };
        /** CallbackDocument */
        CallbackDocument: {
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            status: string;
            step: string;
            url: string;
        };
        /** CallbackReceipt */
        CallbackReceipt: {
            status: string;
            step: string;
        };
        /** One[CallbackReceipt] */
        CallbackReceiptAnswer: {
            data: components["schemas"]["CallbackReceipt"];
        };
        /** CallerDocument */
        CallerDocument: {
            name: string;
            tenant: string;
        };
        /** CatalogActionDocument */
        CatalogActionDocument: {
            category: string;
            connector_id: string;
            deprecation_notice: string | null;
            description: string;
            display_name: string;
            effect: components["schemas"]["EffectDocument"];
            enabled: boolean;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            output_schema?: {
                [key: string]: unknown;
            } | null;
            parameter_schema?: {
                [key: string]: unknown;
            } | null;
            source: string;
            tags: string[];
            version: string;
        };
        /** One[CatalogActionDocument] */
        CatalogActionDocumentAnswer: {
            data: components["schemas"]["CatalogActionDocument"];
        };
        /** Many[CatalogActionDocument] */
        CatalogActionDocumentPage: {
            data: components["schemas"]["CatalogActionDocument"][];
            next_cursor?: string | null;
        };
        /** CheckedRuleDocument */
        CheckedRuleDocument: {
            actions: components["schemas"]["RuleActionDocument"][];
            edges: components["schemas"]["RuleEdgeDocument"][];
            key: string;
            valid: boolean;
            warnings: string[];
        };
        /** One[CheckedRuleDocument] */
        CheckedRuleDocumentAnswer: {
            data: components["schemas"]["CheckedRuleDocument"];
        };
        /** ConditionDocument */
        ConditionDocument: {
            after?: unknown;
            before?: unknown;
            error?: string | null;
            field?: string | null;
            is_true: boolean;
            match?: string | null;
            operator?: string | null;
            parts?: components["schemas"]["ConditionDocument"][];
            value?: unknown;
            words: string;
        };
        /** ConnectorDocument */
        ConnectorDocument: {
            auth?: {
                [key: string]: unknown;
            } | null;
            auth_type: string | null;
            base_url: string | null;
            capabilities: string[];
            config_schema: unknown;
            description: string;
            display_name: string;
            documentation_url: string | null;
            enabled: boolean;
            icon_url: string | null;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            missing: string[];
            probe?: {
                [key: string]: unknown;
            } | null;
            requires_auth: boolean;
            source: string;
            version: string;
        };
        /** One[ConnectorDocument] */
        ConnectorDocumentAnswer: {
            data: components["schemas"]["ConnectorDocument"];
        };
        /** Many[ConnectorDocument] */
        ConnectorDocumentPage: {
            data: components["schemas"]["ConnectorDocument"][];
            next_cursor?: string | null;
        };
        /** ContextDocument */
        ContextDocument: {
            bytes: number;
            max_bytes: number | null;
            mode: string;
            outputs: {
                [key: string]: components["schemas"]["ContextOutput"];
            };
        };
        /** ContextOutput */
        ContextOutput: {
            bytes: number;
            /** @default false */
            dropped: boolean;
            type: string;
            value?: unknown;
        };
        /** CountsDocument */
        CountsDocument: {
            capped_at: number;
            views: components["schemas"]["ViewCounts"];
        };
        /** One[CountsDocument] */
        CountsDocumentAnswer: {
            data: components["schemas"]["CountsDocument"];
        };
        /** DeletedRuleDocument */
        DeletedRuleDocument: {
            /** Format: date-time */
            deleted_date: string;
            id: string;
            key: string;
            name: string;
        };
        /** One[DeletedRuleDocument] */
        DeletedRuleDocumentAnswer: {
            data: components["schemas"]["DeletedRuleDocument"];
        };
        /** Details */
        Details: {
            current?: components["schemas"]["StaleRuleDocument"] | null;
            rehearsal?: components["schemas"]["RehearsalDocument"] | null;
            run_id?: string | null;
            validation_errors?: components["schemas"]["FieldProblem"][];
        };
        /** DetourDocument */
        DetourDocument: {
            edge: string | null;
            now: string;
            step: string;
            was: string;
        };
        /** DiffDocument */
        DiffDocument: {
            edges: components["schemas"]["EdgeDifferences"];
            from: number | string;
            same: boolean;
            settings: components["schemas"]["FieldChangeDocument"][];
            steps: components["schemas"]["StepDifferences"];
            to: number | string;
            workflow: string;
            workflow_id: string;
        };
        /** One[DiffDocument] */
        DiffDocumentAnswer: {
            data: components["schemas"]["DiffDocument"];
        };
        /** DocumentTemplateDocument */
        DocumentTemplateDocument: {
            body?: string | null;
            enabled: boolean;
            fields?: {
                [key: string]: unknown;
            } | null;
            format: string;
            help?: string | null;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            saved_by: string;
            set: string;
            team: string;
            title: string;
            version: number;
            versions?: number[] | null;
        };
        /** One[DocumentTemplateDocument] */
        DocumentTemplateDocumentAnswer: {
            data: components["schemas"]["DocumentTemplateDocument"];
        };
        /** Many[DocumentTemplateDocument] */
        DocumentTemplateDocumentPage: {
            data: components["schemas"]["DocumentTemplateDocument"][];
            next_cursor?: string | null;
        };
        /** DraftDocument */
        DraftDocument: {
            definition: {
                [key: string]: unknown;
            };
            form: string;
            problems: components["schemas"]["FieldProblem"][];
            revision: number;
            saved_by: string;
            /** Format: date-time */
            updated_at: string;
            workflow: string;
            workflow_id: string;
        };
        /** One[DraftDocument] */
        DraftDocumentAnswer: {
            data: components["schemas"]["DraftDocument"];
        };
        /** DraftSummary */
        DraftSummary: {
            problems?: components["schemas"]["FieldProblem"][];
            revision: number;
            saved_by?: string | null;
            updated_at?: string | null;
        };
        /** DryAttemptDocument */
        DryAttemptDocument: {
            answered_by?: string | null;
            /** Format: date-time */
            at: string;
            attempt: number;
            error?: components["schemas"]["StepFailure"] | null;
            request: unknown;
            status: string;
        };
        /** DryRunDocument */
        DryRunDocument: {
            /** Format: date-time */
            ended_at: string;
            error: string | null;
            output: unknown;
            problems: string[];
            route: string[];
            /** Format: date-time */
            started_at: string;
            status: string;
            steps: components["schemas"]["DryStepDocument"][];
            version?: number | null;
            workflow: string;
        };
        /** One[DryRunDocument] */
        DryRunDocumentAnswer: {
            data: components["schemas"]["DryRunDocument"];
        };
        /** DryStepDocument */
        DryStepDocument: {
            answered_by?: string | null;
            attempts: components["schemas"]["DryAttemptDocument"][];
            child?: components["schemas"]["DryRunDocument"] | null;
            error?: components["schemas"]["StepFailure"] | null;
            first_items?: components["schemas"]["DryStepDocument"][];
            items?: components["schemas"]["ItemCounts"] | null;
            output?: unknown;
            status: string;
            status_code?: number | null;
            step: string;
            type: string;
        };
        /** EdgeDifference */
        EdgeDifference: {
            fields: components["schemas"]["FieldChangeDocument"][];
            source: string;
            target: string;
        };
        /** EdgeDifferences */
        EdgeDifferences: {
            added: {
                [key: string]: unknown;
            }[];
            changed: components["schemas"]["EdgeDifference"][];
            removed: {
                [key: string]: unknown;
            }[];
        };
        /** EffectDocument */
        EffectDocument: {
            key: string | null;
            kind: string;
            probe: string | null;
        };
        /** EntityDocument */
        EntityDocument: {
            /** Format: date-time */
            created_date: string;
            fields: {
                [key: string]: unknown;
            } | null;
            id: string;
            name: string;
            revision: number;
            title: string;
            /** Format: date-time */
            updated_date: string;
        };
        /** One[EntityDocument] */
        EntityDocumentAnswer: {
            data: components["schemas"]["EntityDocument"];
        };
        /** Many[EntityDocument] */
        EntityDocumentPage: {
            data: components["schemas"]["EntityDocument"][];
            next_cursor?: string | null;
        };
        /** EntityEventDocument */
        EntityEventDocument: {
            actor: unknown;
            after: {
                [key: string]: unknown;
            } | null;
            before: {
                [key: string]: unknown;
            } | null;
            entity: string;
            id: string;
            operation: string;
            /** Format: date-time */
            received_at: string;
            record_id: string | null;
        };
        /** Many[EntityEventDocument] */
        EntityEventDocumentPage: {
            data: components["schemas"]["EntityEventDocument"][];
            next_cursor?: string | null;
        };
        /** EntityEventReceipt */
        EntityEventReceipt: {
            entity: string;
            errors?: components["schemas"]["ErroredRuleDocument"][] | null;
            id: string;
            operation: string;
            record_id: string | null;
            runs?: components["schemas"]["StartedRuleDocument"][] | null;
            status: string;
        };
        /** One[EntityEventReceipt] */
        EntityEventReceiptAnswer: {
            data: components["schemas"]["EntityEventReceipt"];
        };
        /** EntryDocument */
        EntryDocument: {
            answers: {
                [key: string]: boolean;
            };
            /** Format: date-time */
            at: string;
            attempt: number | null;
            by: string | null;
            carried: string[];
            child_run_id?: string | null;
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            failed: {
                [key: string]: components["schemas"]["StepFailure"];
            };
            finished: boolean;
            item_count?: number | null;
            kind: string;
            notes: string[];
            page?: components["schemas"]["PageDocument"] | null;
            pages?: string[];
            probe?: components["schemas"]["ProbeDocument"] | null;
            result: unknown;
            retry_at: string | null;
            run_status: string | null;
            seq: number;
            skipped: string[];
            sleep_until: {
                [key: string]: string;
            };
            status: string | null;
            step: string | null;
            version?: number | null;
            wait_until: {
                [key: string]: string | null;
            };
            was?: number | null;
        };
        /** Many[EntryDocument] */
        EntryDocumentPage: {
            data: components["schemas"]["EntryDocument"][];
            next_cursor?: string | null;
        };
        /** ErroredRuleDocument */
        ErroredRuleDocument: {
            code: string | null;
            message: string;
            rule: string;
            rule_id: string;
        };
        /** EvaluationDocument */
        EvaluationDocument: {
            error: components["schemas"]["ExpressionProblem"] | null;
            execution_id?: string | null;
            language: number | null;
            run_id: string;
            step: string | null;
            value: unknown;
        };
        /** One[EvaluationDocument] */
        EvaluationDocumentAnswer: {
            data: components["schemas"]["EvaluationDocument"];
        };
        /** EventReceipt */
        EventReceipt: {
            firings: components["schemas"]["MatchedTrigger"][];
            id: string;
            matched: number;
            type: string;
        };
        /** One[EventReceipt] */
        EventReceiptAnswer: {
            data: components["schemas"]["EventReceipt"];
        };
        /** ExecutionStarted */
        ExecutionStarted: {
            error?: string | null;
            execution_id: string;
            finished_at?: string | null;
            output?: unknown;
            run_id: string;
            status: string;
            status_url: string;
            workflow_id: string;
        };
        /** One[ExecutionStarted] */
        ExecutionStartedAnswer: {
            data: components["schemas"]["ExecutionStarted"];
        };
        /** ExportDocument */
        ExportDocument: {
            definition: {
                [key: string]: unknown;
            };
            journal: components["schemas"]["EntryDocument"][];
            run: components["schemas"]["RunDocument"];
        };
        /** ExpressionProblem */
        ExpressionProblem: {
            at: (string | number)[];
            kind: string;
            message: string;
            position: number | null;
        };
        /** ExpressionValue */
        ExpressionValue: {
            at: string;
            error?: string | null;
            source: string;
            value?: unknown;
        };
        /** FacetsDocument */
        FacetsDocument: {
            labels: components["schemas"]["LabelFacet"][];
            runs: number;
            sampled: boolean;
            searched_until: string | null;
            statuses: components["schemas"]["FacetValue"][];
            triggers: components["schemas"]["FacetValue"][];
            versions: components["schemas"]["FacetValue"][];
            workflows: components["schemas"]["WorkflowFacet"][];
        };
        /** One[FacetsDocument] */
        FacetsDocumentAnswer: {
            data: components["schemas"]["FacetsDocument"];
        };
        /** FacetValue */
        FacetValue: {
            count: number;
            value: string;
        };
        /** FailureDocument */
        FailureDocument: {
            message: string;
            step: string;
        };
        /** FieldChangeDocument */
        FieldChangeDocument: {
            field: string;
            new?: unknown;
            old?: unknown;
        };
        /** FieldProblem */
        FieldProblem: {
            field: string;
            message: string;
        };
        /** FiringDocument */
        FiringDocument: {
            id: string;
            message: string | null;
            /** Format: date-time */
            received_at: string;
            replay_of: string | null;
            request?: components["schemas"]["FiringRequest"] | null;
            run_id: string | null;
            scheduled_at: string | null;
            status: string;
            trigger_id: string;
            type: string;
        };
        /** One[FiringDocument] */
        FiringDocumentAnswer: {
            data: components["schemas"]["FiringDocument"];
        };
        /** Many[FiringDocument] */
        FiringDocumentPage: {
            data: components["schemas"]["FiringDocument"][];
            next_cursor?: string | null;
        };
        /** FiringRequest */
        FiringRequest: {
            body: unknown;
            headers: {
                [key: string]: string;
            };
            method: string | null;
            query: {
                [key: string]: string;
            };
        };
        /** FoundHero */
        FoundHero: {
            id: string;
            runs: number;
            type: string;
        };
        /** FoundTrigger */
        FoundTrigger: {
            id: string;
            name: string | null;
            type: string;
            workflow: string;
        };
        /** FoundWorkflow */
        FoundWorkflow: {
            id: string;
            name: string;
            title: string | null;
        };
        /** FrameDocument */
        FrameDocument: {
            file: string;
            line: number;
            name: string;
            source: string | null;
            user: boolean;
        };
        /** GraphDocument */
        GraphDocument: {
            edges: components["schemas"]["GraphEdge"][];
            form: string;
            steps: components["schemas"]["GraphStep"][];
            version: number | string;
            workflow: string;
        };
        /** One[GraphDocument] */
        GraphDocumentAnswer: {
            data: components["schemas"]["GraphDocument"];
        };
        /** GraphEdge */
        GraphEdge: {
            condition: string | null;
            note?: string | null;
            otherwise: boolean;
            source: string;
            state?: string | null;
            target: string;
            value?: boolean | null;
            when: string;
        };
        /** GraphStep */
        GraphStep: {
            for_each: string | null;
            if: string | null;
            join: string;
            kind: string;
            label: string;
            name: string;
            needs: number;
            title: string | null;
        };
        /** GridCell */
        GridCell: {
            /** @default 1 */
            attempts: number;
            ms?: number | null;
            s: string;
        };
        /** GridDocument */
        GridDocument: {
            cells: (components["schemas"]["GridCell"] | null)[][];
            runs: components["schemas"]["GridRun"][];
            steps: string[];
        };
        /** One[GridDocument] */
        GridDocumentAnswer: {
            data: components["schemas"]["GridDocument"];
        };
        /** GridRun */
        GridRun: {
            /** Format: date-time */
            accepted_at: string;
            id: string;
            status: string;
            version: number;
        };
        /** Health */
        Health: {
            status: string;
        };
        /** HeroDocument */
        HeroDocument: {
            id: string;
            type: string;
        };
        /** HeroSummary */
        HeroSummary: {
            id: string;
            last_run: components["schemas"]["RunSummary"] | null;
            runs: number;
            type: string;
        };
        /** Many[HeroSummary] */
        HeroSummaryPage: {
            data: components["schemas"]["HeroSummary"][];
            next_cursor?: string | null;
        };
        /** HierarchyDocument */
        HierarchyDocument: {
            complete: boolean;
            execution_id?: string | null;
            root: components["schemas"]["RunTree"];
            run_id: string;
        };
        /** One[HierarchyDocument] */
        HierarchyDocumentAnswer: {
            data: components["schemas"]["HierarchyDocument"];
        };
        /** HistogramBucket */
        HistogramBucket: {
            /** Format: date-time */
            at: string;
            /** @default 0 */
            attention: number;
            /** @default 0 */
            cancelled: number;
            /** @default 0 */
            completed: number;
            /** @default 0 */
            failed: number;
            /** @default 0 */
            running: number;
            /** @default 0 */
            scheduled: number;
            /** @default 0 */
            waiting: number;
        };
        /** HistogramDocument */
        HistogramDocument: {
            bucket_ms: number;
            buckets: components["schemas"]["HistogramBucket"][];
            /** Format: date-time */
            from: string;
            searched_until: string | null;
            /** Format: date-time */
            to: string;
            totals: components["schemas"]["RunCounts"];
        };
        /** One[HistogramDocument] */
        HistogramDocumentAnswer: {
            data: components["schemas"]["HistogramDocument"];
        };
        /** ImportDocument */
        ImportDocument: {
            actions: number;
            added: string[];
            broken_steps: components["schemas"]["BrokenStepDocument"][];
            changed: boolean;
            changes: components["schemas"]["ActionChangeDocument"][];
            connector: components["schemas"]["ConnectorDocument"] | null;
            dry_run: boolean;
            operations: number;
            removed: string[];
            skipped: components["schemas"]["SkippedDocument"][];
            version: string;
        };
        /** One[ImportDocument] */
        ImportDocumentAnswer: {
            data: components["schemas"]["ImportDocument"];
        };
        /** InstantiatedDocument */
        InstantiatedDocument: {
            problems: components["schemas"]["FieldProblem"][];
            revision: number;
            status: string;
            workflow: string;
            workflow_id: string;
        };
        /** One[InstantiatedDocument] */
        InstantiatedDocumentAnswer: {
            data: components["schemas"]["InstantiatedDocument"];
        };
        /** ItemCounts */
        ItemCounts: {
            count: number;
            failed: number;
            pages: number;
            succeeded: number;
        };
        /** ItemDocument */
        ItemDocument: {
            attempts: number;
            child_run_id: string | null;
            error: components["schemas"]["StepFailure"] | null;
            index: number;
            result: unknown;
            run_id: string | null;
            status: string;
        };
        /** Many[ItemDocument] */
        ItemDocumentPage: {
            data: components["schemas"]["ItemDocument"][];
            next_cursor?: string | null;
        };
        /** LabelFacet */
        LabelFacet: {
            count: number;
            key: string;
            value: string;
        };
        /** LayoutDocument */
        LayoutDocument: {
            canvas_layout: {
                [key: string]: unknown;
            };
        };
        /** One[LayoutDocument] */
        LayoutDocumentAnswer: {
            data: components["schemas"]["LayoutDocument"];
        };
        /** LetterDocument */
        LetterDocument: {
            attempts: number;
            firing_id: string | null;
            id: string;
            kind: string;
            last_error: string | null;
            message: string;
            payload?: unknown;
            reason: string;
            result: string | null;
            run_id: string | null;
            settled_at: string | null;
            settled_by: string | null;
            state: string;
            step: string | null;
            trigger_id: string | null;
            workflow: string;
            workflow_id: string | null;
            /** Format: date-time */
            written_at: string;
        };
        /** One[LetterDocument] */
        LetterDocumentAnswer: {
            data: components["schemas"]["LetterDocument"];
        };
        /** Many[LetterDocument] */
        LetterDocumentPage: {
            data: components["schemas"]["LetterDocument"][];
            next_cursor?: string | null;
        };
        /** LimitsDocument */
        LimitsDocument: {
            definition_bytes: number;
            input_bytes: number;
            list_limit: number;
            topics: number;
        };
        /** One[list[str]] */
        ListStrAnswer: {
            data: string[];
        };
        /** MapTree */
        MapTree: {
            children: components["schemas"]["RunTree"][];
            items: components["schemas"]["ItemCounts"];
            /** @default false */
            more: boolean;
            step: string;
        };
        /** MatchedTrigger */
        MatchedTrigger: {
            firing_id: string;
            run_id: string | null;
            status: string;
            trigger_id: string;
        };
        /** MeDocument */
        MeDocument: {
            authenticated: boolean;
            base_path: string;
            caller: components["schemas"]["CallerDocument"];
            features: string[];
            limits: components["schemas"]["LimitsDocument"];
            scopes: string[];
            /** Format: date-time */
            server_time: string;
            version: string;
        };
        /** One[MeDocument] */
        MeDocumentAnswer: {
            data: components["schemas"]["MeDocument"];
        };
        /** MoveDocument */
        MoveDocument: {
            begins: string[];
            dry_run: boolean;
            movable: boolean;
            reasons: components["schemas"]["MoveReasonDocument"][];
            requested: boolean;
            run_id: string;
            version: number;
            was: number;
        };
        /** One[MoveDocument] */
        MoveDocumentAnswer: {
            data: components["schemas"]["MoveDocument"];
        };
        /** MoveGroupDocument */
        MoveGroupDocument: {
            at: string[];
            begins: string[];
            examples: string[];
            movable: boolean;
            reasons: components["schemas"]["MoveReasonDocument"][];
            runs: number;
            was: number;
        };
        /** MoveReasonDocument */
        MoveReasonDocument: {
            message: string;
            step: string | null;
        };
        /** MovesDocument */
        MovesDocument: {
            dry_run: boolean;
            groups: components["schemas"]["MoveGroupDocument"][];
            matched: number;
            more: boolean;
            movable: number;
            sent: number;
            version: number;
        };
        /** One[MovesDocument] */
        MovesDocumentAnswer: {
            data: components["schemas"]["MovesDocument"];
        };
        /** NodeDocument */
        NodeDocument: {
            actions: string[];
            address: string | null;
            alive: boolean;
            busy: number | null;
            id: string;
            /** Format: date-time */
            lease_until: string;
            owned: number;
            queues: string[] | null;
            slots: number | null;
            /** Format: date-time */
            started_at: string;
            version: string | null;
        };
        /** One[list[NodeDocument]] */
        NodeDocumentAnswer: {
            data: components["schemas"]["NodeDocument"][];
        };
        /** OriginDocument */
        OriginDocument: {
            kind: string;
            run_id: string;
        };
        /** OutlineDocument */
        OutlineDocument: {
            begun_at: string | null;
            /** @default 0 */
            left_out: number;
            /** Format: date-time */
            now: string;
            reasons: components["schemas"]["ReasonDocument"][];
            run: components["schemas"]["RunHead"];
            seq: number;
            steps: components["schemas"]["StepOutline"][];
            why: string;
        };
        /** One[OutlineDocument] */
        OutlineDocumentAnswer: {
            data: components["schemas"]["OutlineDocument"];
        };
        /** PageDocument */
        PageDocument: {
            failed: number;
            run_id: string;
            succeeded: number;
        };
        /** ParameterDiffDocument */
        ParameterDiffDocument: {
            field: string;
            new: string | null;
            old: string | null;
            step: string;
        };
        /** ParentDocument */
        ParentDocument: {
            run_id: string;
            step: string | null;
        };
        /** PastAttemptDocument */
        PastAttemptDocument: {
            attempt: number;
            cancelled_at: string | null;
            completed_at: string | null;
            error_message: string | null;
            error_traceback: string | null;
            failed_at: string | null;
            outcome: string;
            /** Format: date-time */
            scheduled_for: string;
            skipped_at: string | null;
            started_at: string | null;
            state: string;
            step: string;
        };
        /** Many[PastAttemptDocument] */
        PastAttemptDocumentPage: {
            data: components["schemas"]["PastAttemptDocument"][];
            next_cursor?: string | null;
        };
        /** PlannedChangeDocument */
        PlannedChangeDocument: {
            /** @default false */
            archived: boolean;
            change: string;
            changes?: string[];
            current_version: number;
            file: string;
            form: string | null;
            name: string | null;
            problems?: components["schemas"]["FieldProblem"][];
            warnings?: string[];
        };
        /** Many[PlannedChangeDocument] */
        PlannedChangeDocumentPage: {
            data: components["schemas"]["PlannedChangeDocument"][];
            next_cursor?: string | null;
        };
        /** ProbeDocument */
        ProbeDocument: {
            action: string;
            answer: string;
        };
        /** ProgressDocument */
        ProgressDocument: {
            done: number;
            failed: number;
            total: number | null;
        };
        /** PublishedDocument */
        PublishedDocument: {
            changed: boolean;
            current_version: number;
            rehearsal?: components["schemas"]["RehearsalDocument"] | null;
            status: string;
            version: number;
            warnings: string[];
            workflow: string;
            workflow_id: string;
        };
        /** One[PublishedDocument] */
        PublishedDocumentAnswer: {
            data: components["schemas"]["PublishedDocument"];
        };
        /** QueueDocument */
        QueueDocument: {
            capped_at: number;
            oldest_at: string | null;
            owned: number;
            queue: string;
            ready: number;
            served: boolean;
            sleeping: number;
        };
        /** One[list[QueueDocument]] */
        QueueDocumentAnswer: {
            data: components["schemas"]["QueueDocument"][];
        };
        /** ReasonDocument */
        ReasonDocument: {
            details: {
                [key: string]: unknown;
            } | null;
            kind: string;
            message: string;
            since: string | null;
            step: string | null;
            until: string | null;
        };
        /** ReceivedDocument */
        ReceivedDocument: {
            id: string;
            message: string | null;
            /** Format: date-time */
            received_at: string;
            replay_of: string | null;
            request?: components["schemas"]["FiringRequest"] | null;
            run_id: string | null;
            scheduled_at: string | null;
            status: string;
            trigger_id: string;
            trigger_name?: string | null;
            type: string;
            workflow: string;
            workflow_id: string;
        };
        /** ReceivedPage */
        ReceivedPage: {
            data: components["schemas"]["ReceivedDocument"][];
            next_cursor?: string | null;
            searched_until?: string | null;
        };
        /** RecentEventDocument */
        RecentEventDocument: {
            conditions: components["schemas"]["ConditionDocument"][];
            entity: string;
            id: string;
            matches: boolean;
            operation: string;
            reason: string | null;
            /** Format: date-time */
            received_at: string;
            record_id: string | null;
        };
        /** Many[RecentEventDocument] */
        RecentEventDocumentPage: {
            data: components["schemas"]["RecentEventDocument"][];
            next_cursor?: string | null;
        };
        /** RecentRun */
        RecentRun: {
            /** Format: date-time */
            accepted_at: string;
            duration_ms: number | null;
            id: string;
            status: string;
        };
        /** Refusal */
        Refusal: {
            code: string;
            details?: components["schemas"]["Details"] | null;
            error: string;
            message: string;
        };
        /** RefusedDocument */
        RefusedDocument: {
            message: string;
            run_id: string;
        };
        /** RefusedLetter */
        RefusedLetter: {
            id: string;
            message: string;
        };
        /** RehearsalDocument */
        RehearsalDocument: {
            days: number;
            failing: number;
            finished: number;
            groups: components["schemas"]["RehearsalGroupDocument"][];
            in_flight: number;
            matched: number;
            movable: number;
            moves: components["schemas"]["MoveGroupDocument"][];
            other: number;
            same: number;
            version: number;
            workflow: string;
        };
        /** One[RehearsalDocument] */
        RehearsalDocumentAnswer: {
            data: components["schemas"]["RehearsalDocument"];
        };
        /** RehearsalGroupDocument */
        RehearsalGroupDocument: {
            detours: components["schemas"]["DetourDocument"][];
            differences: components["schemas"]["ParameterDiffDocument"][];
            examples: string[];
            failures: components["schemas"]["FailureDocument"][];
            in_flight: boolean;
            new_steps: string[];
            runs: number;
            same: boolean;
        };
        /** RenderingDocument */
        RenderingDocument: {
            metadata: {
                [key: string]: unknown;
            };
            rendered_body: string;
        };
        /** One[RenderingDocument] */
        RenderingDocumentAnswer: {
            data: components["schemas"]["RenderingDocument"];
        };
        /** ResourceDocument */
        ResourceDocument: {
            id: string;
            /** Format: date-time */
            linked_at: string;
            run_id: string;
            step: string;
            system: string;
            type: string;
            url: string | null;
        };
        /** Many[ResourceDocument] */
        ResourceDocumentPage: {
            data: components["schemas"]["ResourceDocument"][];
            next_cursor?: string | null;
        };
        /** RetryPreviewDocument */
        RetryPreviewDocument: {
            again: string[];
            kept: string[];
            run_id: string;
            version: number;
        };
        /** One[RetryPreviewDocument] */
        RetryPreviewDocumentAnswer: {
            data: components["schemas"]["RetryPreviewDocument"];
        };
        /** RuleActionDifference */
        RuleActionDifference: {
            fields: components["schemas"]["FieldChangeDocument"][];
            id: string;
            name: string;
        };
        /** RuleActionDifferences */
        RuleActionDifferences: {
            added: components["schemas"]["RuleActionDocument"][];
            changed: components["schemas"]["RuleActionDifference"][];
            removed: components["schemas"]["RuleActionDocument"][];
        };
        /** RuleActionDocument */
        RuleActionDocument: {
            action_config: {
                [key: string]: unknown;
            };
            action_type: string;
            collect?: unknown;
            description?: string;
            execution_order: number;
            for_each?: unknown;
            id: string;
            /** @default true */
            is_active: boolean;
            max_items?: unknown;
            max_parallel?: unknown;
            name: string;
            on_crash?: unknown;
            on_item_failure?: unknown;
            priority?: unknown;
            queue?: unknown;
            repeat?: unknown;
            rerender_on_retry?: unknown;
            retries?: unknown;
            retry?: unknown;
            step: string;
            timeout?: unknown;
            tolerate?: unknown;
        };
        /** One[RuleActionDocument] */
        RuleActionDocumentAnswer: {
            data: components["schemas"]["RuleActionDocument"];
        };
        /** Many[RuleActionDocument] */
        RuleActionDocumentPage: {
            data: components["schemas"]["RuleActionDocument"][];
            next_cursor?: string | null;
        };
        /** RuleDifference */
        RuleDifference: {
            actions: components["schemas"]["RuleActionDifferences"];
            edges: components["schemas"]["RuleEdgeDifferences"];
            settings: components["schemas"]["FieldChangeDocument"][];
        };
        /** RuleDocument */
        RuleDocument: {
            actions: components["schemas"]["RuleActionDocument"][];
            canvas_layout: {
                [key: string]: unknown;
            };
            conditions: string;
            /** Format: date-time */
            created_date: string;
            cron_expression?: unknown;
            description: string | null;
            edges: components["schemas"]["RuleEdgeDocument"][];
            entity: string | null;
            entity_id: string | null;
            id: string;
            is_active: boolean;
            jitter?: unknown;
            key: string;
            labels?: unknown;
            max_duration?: unknown;
            max_parallel?: unknown;
            missed?: unknown;
            missed_window?: unknown;
            name: string;
            on_unhandled?: unknown;
            output?: unknown;
            overlap?: unknown;
            priority?: unknown;
            queue?: unknown;
            status: string;
            tests?: unknown;
            timezone?: unknown;
            trigger_conditions: {
                [key: string]: unknown;
            };
            trigger_type: string;
            trigger_type_id: string;
            updated_by: string | null;
            /** Format: date-time */
            updated_date: string;
            vars?: unknown;
            version: number;
            warnings?: string[];
        };
        /** One[RuleDocument] */
        RuleDocumentAnswer: {
            data: components["schemas"]["RuleDocument"];
        };
        /** RuleDraftDocument */
        RuleDraftDocument: {
            id: string;
            key: string;
            problems: components["schemas"]["FieldProblem"][];
            revision: number;
        };
        /** One[RuleDraftDocument] */
        RuleDraftDocumentAnswer: {
            data: components["schemas"]["RuleDraftDocument"];
        };
        /** RuleEdgeDifferences */
        RuleEdgeDifferences: {
            added: components["schemas"]["RuleEdgeDocument"][];
            removed: components["schemas"]["RuleEdgeDocument"][];
        };
        /** RuleEdgeDocument */
        RuleEdgeDocument: {
            /** @default 0 */
            edge_order: number;
            edge_type: string;
            id: string;
            source_action_id: string | null;
            target_action_id: string;
        };
        /** One[RuleEdgeDocument] */
        RuleEdgeDocumentAnswer: {
            data: components["schemas"]["RuleEdgeDocument"];
        };
        /** Many[RuleEdgeDocument] */
        RuleEdgeDocumentPage: {
            data: components["schemas"]["RuleEdgeDocument"][];
            next_cursor?: string | null;
        };
        /** RuleFiringDocument */
        RuleFiringDocument: {
            /** Format: date-time */
            at: string;
            event_id: string | null;
            id: string;
            message: string | null;
            operation: string | null;
            record_id: string | null;
            run_id: string | null;
            status: string;
        };
        /** Many[RuleFiringDocument] */
        RuleFiringDocumentPage: {
            data: components["schemas"]["RuleFiringDocument"][];
            next_cursor?: string | null;
        };
        /** RuleMatchDocument */
        RuleMatchDocument: {
            conditions: components["schemas"]["ConditionDocument"][];
            matches: boolean;
            name: string;
            reason: string | null;
            rule: string;
            rule_id: string;
            trigger_type: string;
        };
        /** Many[RuleMatchDocument] */
        RuleMatchDocumentPage: {
            data: components["schemas"]["RuleMatchDocument"][];
            next_cursor?: string | null;
        };
        /** RuleSummary */
        RuleSummary: {
            action_count: number;
            conditions: string;
            /** Format: date-time */
            created_date: string;
            description: string | null;
            entity: string | null;
            id: string;
            is_active: boolean;
            key: string;
            name: string;
            status: string;
            trigger_type_id: string;
            updated_by: string | null;
            /** Format: date-time */
            updated_date: string;
            version: number;
        };
        /** Many[RuleSummary] */
        RuleSummaryPage: {
            data: components["schemas"]["RuleSummary"][];
            next_cursor?: string | null;
        };
        /** RuleVersionDocument */
        RuleVersionDocument: {
            author: string | null;
            checksum: string;
            /** Format: date-time */
            created_date: string;
            current: boolean;
            difference?: components["schemas"]["RuleDifference"];
            name: string;
            version: number;
        };
        /** Many[RuleVersionDocument] */
        RuleVersionDocumentPage: {
            data: components["schemas"]["RuleVersionDocument"][];
            next_cursor?: string | null;
        };
        /** RunCounts */
        RunCounts: {
            /** @default 0 */
            attention: number;
            /** @default 0 */
            cancelled: number;
            /** @default 0 */
            completed: number;
            /** @default 0 */
            failed: number;
            /** @default 0 */
            running: number;
            /** @default 0 */
            scheduled: number;
            /** @default 0 */
            waiting: number;
        };
        /** RunDocument */
        RunDocument: {
            actions?: components["schemas"]["ActionDocument"][] | null;
            callbacks: components["schemas"]["CallbackDocument"][];
            cancel_requested?: boolean | null;
            children?: components["schemas"]["RunSummary"][] | null;
            context?: components["schemas"]["ContextDocument"] | null;
            duration_ms: number | null;
            error: string | null;
            events?: components["schemas"]["EntryDocument"][] | null;
            execution_id?: string | null;
            expires_at: string | null;
            finish_requested?: boolean | null;
            finished_at: string | null;
            hero: components["schemas"]["HeroDocument"] | null;
            id: string;
            input: {
                [key: string]: unknown;
            };
            labels: {
                [key: string]: string;
            };
            more?: string[] | null;
            node: string | null;
            origin: components["schemas"]["OriginDocument"] | null;
            output: unknown;
            parent?: components["schemas"]["ParentDocument"] | null;
            pause_requested?: boolean | null;
            paused_by: string | null;
            paused_step: string | null;
            progress?: components["schemas"]["ProgressDocument"] | null;
            queued_ms: number | null;
            reattempt_requested?: boolean | null;
            request_id: string | null;
            resolve_requested?: boolean | null;
            resources?: components["schemas"]["ResourceDocument"][] | null;
            resume_requested?: boolean | null;
            skip_requested?: boolean | null;
            stage: components["schemas"]["StageDocument"] | null;
            start_at: string | null;
            started_at: string | null;
            status: string;
            suspect?: components["schemas"]["SuspectDocument"] | null;
            tasks: {
                [key: string]: components["schemas"]["StepDocument"];
            };
            trigger: string;
            trigger_id: string | null;
            version: number;
            workflow: string;
            workflow_id: string;
        };
        /** One[RunDocument] */
        RunDocumentAnswer: {
            data: components["schemas"]["RunDocument"];
        };
        /** RunHead */
        RunHead: {
            duration_ms: number | null;
            error: string | null;
            execution_id?: string | null;
            expires_at: string | null;
            finished_at: string | null;
            hero: components["schemas"]["HeroDocument"] | null;
            id: string;
            labels: {
                [key: string]: string;
            };
            node: string | null;
            origin: components["schemas"]["OriginDocument"] | null;
            parent?: components["schemas"]["ParentDocument"] | null;
            paused_by?: string | null;
            paused_step?: string | null;
            progress?: components["schemas"]["ProgressDocument"] | null;
            request_id: string | null;
            stage: components["schemas"]["StageDocument"] | null;
            start_at: string | null;
            started_at: string | null;
            status: string;
            suspect?: components["schemas"]["SuspectDocument"] | null;
            trigger: string;
            trigger_id: string | null;
            version: number;
            workflow: string;
            workflow_id: string;
        };
        /** RunSummary */
        RunSummary: {
            duration_ms: number | null;
            error: string | null;
            execution_id?: string | null;
            expires_at: string | null;
            finished_at: string | null;
            hero: components["schemas"]["HeroDocument"] | null;
            id: string;
            labels: {
                [key: string]: string;
            };
            node: string | null;
            origin: components["schemas"]["OriginDocument"] | null;
            parent?: components["schemas"]["ParentDocument"] | null;
            progress?: components["schemas"]["ProgressDocument"] | null;
            request_id: string | null;
            stage: components["schemas"]["StageDocument"] | null;
            start_at: string | null;
            started_at: string | null;
            status: string;
            trigger: string;
            trigger_id: string | null;
            version: number;
            workflow: string;
            workflow_id: string;
        };
        /** RunTree */
        RunTree: {
            children: components["schemas"]["RunTree"][];
            duration_ms: number | null;
            error: string | null;
            execution_id?: string | null;
            expires_at: string | null;
            finished_at: string | null;
            hero: components["schemas"]["HeroDocument"] | null;
            id: string;
            item?: number | null;
            labels: {
                [key: string]: string;
            };
            maps?: components["schemas"]["MapTree"][];
            /** @default false */
            more: boolean;
            node: string | null;
            origin: components["schemas"]["OriginDocument"] | null;
            parent?: components["schemas"]["ParentDocument"] | null;
            progress?: components["schemas"]["ProgressDocument"] | null;
            request_id: string | null;
            stage: components["schemas"]["StageDocument"] | null;
            start_at: string | null;
            started_at: string | null;
            status: string;
            trigger: string;
            trigger_id: string | null;
            version: number;
            workflow: string;
            workflow_id: string;
        };
        /** SavedConnectorAnswer */
        SavedConnectorAnswer: {
            changed: boolean;
            data: components["schemas"]["ConnectorDocument"];
        };
        /** SavedTemplateAnswer */
        SavedTemplateAnswer: {
            changed: boolean;
            data: components["schemas"]["DocumentTemplateDocument"];
        };
        /** SavedWorkflowAnswer */
        SavedWorkflowAnswer: {
            changed: boolean;
            data: components["schemas"]["WorkflowDocument"];
        };
        /** SearchDocument */
        SearchDocument: {
            heroes: components["schemas"]["FoundHero"][];
            runs: components["schemas"]["RunSummary"][];
            triggers: components["schemas"]["FoundTrigger"][];
            workflows: components["schemas"]["FoundWorkflow"][];
        };
        /** One[SearchDocument] */
        SearchDocumentAnswer: {
            data: components["schemas"]["SearchDocument"];
        };
        /** SearchPage[RunSummary] */
        "SearchPage_detent.documents.runs.RunSummary_": {
            data: components["schemas"]["RunSummary"][];
            next_cursor?: string | null;
            searched_until?: string | null;
        };
        /** SignalReceipt */
        SignalReceipt: {
            accepted: boolean;
            run_id: string;
            signal: string;
        };
        /** One[SignalReceipt] */
        SignalReceiptAnswer: {
            data: components["schemas"]["SignalReceipt"];
        };
        /** SkippedDocument */
        SkippedDocument: {
            operation: string;
            reason: string;
        };
        /** StageDocument */
        StageDocument: {
            kind: string;
            since?: string | null;
            step: string | null;
            until: string | null;
        };
        /** StaleRuleDocument */
        StaleRuleDocument: {
            difference: components["schemas"]["RuleDifference"] | null;
            etag: string;
            updated_by: string | null;
            /** Format: date-time */
            updated_date: string;
            version: number;
        };
        /** StartedDocument */
        StartedDocument: {
            error?: string | null;
            finished_at?: string | null;
            output?: unknown;
            run_id: string;
            start_at: string | null;
            started_at: string | null;
            status: string;
            workflow_id: string;
        };
        /** One[StartedDocument] */
        StartedDocumentAnswer: {
            data: components["schemas"]["StartedDocument"];
        };
        /** StartedRuleDocument */
        StartedRuleDocument: {
            rule: string;
            rule_id: string;
            run_id: string;
        };
        /** StepDetail */
        StepDetail: {
            attempts?: components["schemas"]["AttemptDocument"][];
            children?: string[];
            curl?: string | null;
            cut?: string[];
            error?: components["schemas"]["StepErrorDocument"] | null;
            expressions?: components["schemas"]["ExpressionValue"][];
            headers?: {
                [key: string]: unknown;
            } | null;
            /** @default false */
            is_truncated: boolean;
            items?: components["schemas"]["ItemCounts"] | null;
            kind: string;
            output?: unknown;
            query?: {
                [key: string]: unknown;
            } | null;
            rendered?: unknown;
            run_id: string;
            seq: number;
            status: string;
            status_code?: number | null;
            step: string;
            template?: unknown;
            title?: string | null;
            wait?: components["schemas"]["WaitDocument"] | null;
        };
        /** One[StepDetail] */
        StepDetailAnswer: {
            data: components["schemas"]["StepDetail"];
        };
        /** StepDifference */
        StepDifference: {
            fields: components["schemas"]["FieldChangeDocument"][];
            name: string;
        };
        /** StepDifferences */
        StepDifferences: {
            added: {
                [key: string]: unknown;
            }[];
            changed: components["schemas"]["StepDifference"][];
            removed: {
                [key: string]: unknown;
            }[];
        };
        /** StepDocument */
        StepDocument: {
            attempt?: number | null;
            attempts: components["schemas"]["AttemptDocument"][];
            body?: unknown;
            child_run_id?: string | null;
            duration_ms: number | null;
            encoding?: string | null;
            error: components["schemas"]["StepFailure"] | null;
            finished_at: string | null;
            headers?: {
                [key: string]: unknown;
            } | null;
            is_truncated?: boolean | null;
            items?: components["schemas"]["ItemCounts"] | null;
            next_at?: string | null;
            output?: unknown;
            query?: {
                [key: string]: unknown;
            } | null;
            reason?: string | null;
            run_id?: string | null;
            started_at: string | null;
            state?: unknown;
            status: string;
            status_code?: number | null;
            type: string;
            until?: string | null;
        };
        /** StepErrorDocument */
        StepErrorDocument: {
            code: string;
            detail: unknown;
            frames: components["schemas"]["FrameDocument"][];
            message: string;
        };
        /** StepFailure */
        StepFailure: {
            code: string;
            detail: unknown;
            message: string;
        };
        /** StepOutline */
        StepOutline: {
            attempt?: number | null;
            child_run_id?: string | null;
            duration_ms?: number | null;
            error?: string | null;
            finished_at?: string | null;
            guard?: boolean | null;
            items?: components["schemas"]["ItemCounts"] | null;
            kind: string;
            /** @default 0 */
            more_tries: number;
            name: string;
            next_at?: string | null;
            ready_at?: string | null;
            reason?: string | null;
            started_at?: string | null;
            status: string;
            title?: string | null;
            tries?: components["schemas"]["TryDocument"][];
            until?: string | null;
        };
        /** StepUpgradeDocument */
        StepUpgradeDocument: {
            action: string;
            new_version: string;
            old_version: string;
            problems: string[];
            step: string;
        };
        /** StorageDocument */
        StorageDocument: {
            database_bytes: number | null;
            /** Format: date-time */
            measured_at: string;
            workflows: components["schemas"]["WorkflowStorage"][];
        };
        /** One[StorageDocument] */
        StorageDocumentAnswer: {
            data: components["schemas"]["StorageDocument"];
        };
        /** SuspectDocument */
        SuspectDocument: {
            adoptions: number;
            in_flight: string[];
            next_at: string | null;
            strikes: {
                [key: string]: number;
            };
            waiting: string[];
        };
        /** TemplateSetDocument */
        TemplateSetDocument: {
            enabled: boolean;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            team: string;
            title: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** One[TemplateSetDocument] */
        TemplateSetDocumentAnswer: {
            data: components["schemas"]["TemplateSetDocument"];
        };
        /** Many[TemplateSetDocument] */
        TemplateSetDocumentPage: {
            data: components["schemas"]["TemplateSetDocument"][];
            next_cursor?: string | null;
        };
        /** TimelineEntry */
        TimelineEntry: {
            answers: {
                [key: string]: boolean;
            };
            /** Format: date-time */
            at: string;
            attempt: number | null;
            by: string | null;
            carried: string[];
            child_run_id?: string | null;
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            failed: {
                [key: string]: components["schemas"]["StepFailure"];
            };
            finished: boolean;
            item_count?: number | null;
            kind: string;
            notes: string[];
            page?: components["schemas"]["PageDocument"] | null;
            pages?: string[];
            probe?: components["schemas"]["ProbeDocument"] | null;
            result: unknown;
            retry_at: string | null;
            run_id: string;
            run_status: string | null;
            seq: number;
            skipped: string[];
            sleep_until: {
                [key: string]: string;
            };
            status: string | null;
            step: string | null;
            version?: number | null;
            wait_until: {
                [key: string]: string | null;
            };
            was?: number | null;
            workflow: string;
        };
        /** Many[TimelineEntry] */
        TimelineEntryPage: {
            data: components["schemas"]["TimelineEntry"][];
            next_cursor?: string | null;
        };
        /** TriggerDocument */
        TriggerDocument: {
            condition: string | null;
            config: {
                [key: string]: unknown;
            };
            enabled: boolean;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            last_fired_at: string | null;
            name: string | null;
            next_at: string | null;
            note: string | null;
            owned_by: string;
            type: string;
            /** Format: date-time */
            updated_at: string;
            url: string | null;
            workflow: string;
            workflow_id: string;
        };
        /** One[TriggerDocument] */
        TriggerDocumentAnswer: {
            data: components["schemas"]["TriggerDocument"];
        };
        /** Many[TriggerDocument] */
        TriggerDocumentPage: {
            data: components["schemas"]["TriggerDocument"][];
            next_cursor?: string | null;
        };
        /** TriggerTypeDocument */
        TriggerTypeDocument: {
            description: string;
            id: string;
            name: string;
            operations: string[];
            title: string;
        };
        /** Many[TriggerTypeDocument] */
        TriggerTypeDocumentPage: {
            data: components["schemas"]["TriggerTypeDocument"][];
            next_cursor?: string | null;
        };
        /** TryDocument */
        TryDocument: {
            attempt: number;
            error?: string | null;
            /** Format: date-time */
            finished_at: string;
            retry_at?: string | null;
            /** Format: date-time */
            started_at: string;
            status?: string | null;
        };
        /** UpgradeDocument */
        UpgradeDocument: {
            connector: string;
            dry_run: boolean;
            workflows: components["schemas"]["WorkflowUpgradeDocument"][];
        };
        /** One[UpgradeDocument] */
        UpgradeDocumentAnswer: {
            data: components["schemas"]["UpgradeDocument"];
        };
        /** VersionDocument */
        VersionDocument: {
            checksum: string;
            current: boolean;
            definition: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            inserted_at: string;
            version: number;
        };
        /** One[VersionDocument] */
        VersionDocumentAnswer: {
            data: components["schemas"]["VersionDocument"];
        };
        /** Many[VersionDocument] */
        VersionDocumentPage: {
            data: components["schemas"]["VersionDocument"][];
            next_cursor?: string | null;
        };
        /** ViewCounts */
        ViewCounts: {
            all: number;
            failing: number;
            paused: number;
            person: number;
            running: number;
            stuck: number;
            waiting: number;
        };
        /** WaitDocument */
        WaitDocument: {
            asked: string | null;
            status: string;
            until: string | null;
            url: string | null;
        };
        /** WaitItem */
        WaitItem: {
            /** Format: date-time */
            created_at: string;
            input: unknown;
            question: string | null;
            run: components["schemas"]["RunSummary"];
            step: string;
            title: string | null;
            until: string | null;
            url: string | null;
        };
        /** Many[WaitItem] */
        WaitItemPage: {
            data: components["schemas"]["WaitItem"][];
            next_cursor?: string | null;
        };
        /** WebhookDocument */
        WebhookDocument: {
            callbacks?: components["schemas"]["CallbackDocument"][] | null;
            execution_id?: string | null;
            firing_id?: string | null;
            message?: string | null;
            run_id?: string | null;
            status: string;
        };
        /** One[WebhookDocument] */
        WebhookDocumentAnswer: {
            data: components["schemas"]["WebhookDocument"];
        };
        /** WhyDocument */
        WhyDocument: {
            execution_id?: string | null;
            reasons: components["schemas"]["ReasonDocument"][];
            run_id: string;
            status: string;
            summary: string;
        };
        /** One[WhyDocument] */
        WhyDocumentAnswer: {
            data: components["schemas"]["WhyDocument"];
        };
        /** WorkflowDocument */
        WorkflowDocument: {
            current_version: number;
            definition?: {
                [key: string]: unknown;
            } | null;
            deleted_at?: string | null;
            description: string | null;
            draft?: components["schemas"]["DraftSummary"] | null;
            enabled: boolean;
            fingerprint?: string | null;
            form: string;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            labels: {
                [key: string]: string;
            };
            managed_by?: string | null;
            name: string;
            status: string;
            task_count: number;
            title?: string | null;
            trigger: string;
            /** Format: date-time */
            updated_at: string;
            version?: number | null;
            warnings?: string[];
        };
        /** One[WorkflowDocument] */
        WorkflowDocumentAnswer: {
            data: components["schemas"]["WorkflowDocument"];
        };
        /** Many[WorkflowDocument] */
        WorkflowDocumentPage: {
            data: components["schemas"]["WorkflowDocument"][];
            next_cursor?: string | null;
        };
        /** WorkflowFacet */
        WorkflowFacet: {
            count: number;
            id: string;
            value: string;
        };
        /** WorkflowStats */
        WorkflowStats: {
            in_flight: {
                [key: string]: number;
            };
            last_at: string | null;
            next_at: string | null;
            p50_ms: number | null;
            p95_ms: number | null;
            recent: components["schemas"]["RecentRun"][];
            runs: number;
            success_rate: number | null;
            workflow: string;
            workflow_id: string;
        };
        /** One[WorkflowStats] */
        WorkflowStatsAnswer: {
            data: components["schemas"]["WorkflowStats"];
        };
        /** Many[WorkflowStats] */
        WorkflowStatsPage: {
            data: components["schemas"]["WorkflowStats"][];
            next_cursor?: string | null;
        };
        /** WorkflowStorage */
        WorkflowStorage: {
            bytes: number;
            journal_rows: number;
            runs: number;
            workflow: string;
            workflow_id: string;
        };
        /** WorkflowTemplateDocument */
        WorkflowTemplateDocument: {
            author: string;
            category: string;
            config_schema?: {
                [key: string]: unknown;
            } | null;
            definition?: {
                [key: string]: unknown;
            } | null;
            description: string;
            id: string;
            inserted_at?: string | null;
            is_official: boolean;
            tags: string[];
            thumbnail_url?: string | null;
            title: string;
        };
        /** One[WorkflowTemplateDocument] */
        WorkflowTemplateDocumentAnswer: {
            data: components["schemas"]["WorkflowTemplateDocument"];
        };
        /** Many[WorkflowTemplateDocument] */
        WorkflowTemplateDocumentPage: {
            data: components["schemas"]["WorkflowTemplateDocument"][];
            next_cursor?: string | null;
        };
        /** WorkflowUpgradeDocument */
        WorkflowUpgradeDocument: {
            blocked: boolean;
            new_version: number | null;
            problems: string[];
            steps: components["schemas"]["StepUpgradeDocument"][];
            version: number;
            workflow: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listActionTemplates: {
        parameters: {
            query?: {
                /**
                 * @description Only those of this type of actions.
                 * @example send_email
                 */
                action_type?: string;
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only those that are offered, or only the others.
                 * @example true
                 */
                is_active?: boolean;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTemplateDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createActionTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    action_type: string;
                    default_config?: Record<string, unknown>;
                    description?: string;
                    is_active?: boolean;
                    name: string;
                };
            };
        };
        responses: {
            /** @description It was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getActionTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTemplateDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    replaceActionTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    action_type: string;
                    default_config?: Record<string, unknown>;
                    description?: string;
                    is_active?: boolean;
                    name: string;
                };
            };
        };
        responses: {
            /** @description The action template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deleteActionTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTemplateDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listActionTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All action types. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTypeDocumentPage"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listActions: {
        parameters: {
            query?: {
                /**
                 * @description Only those of this category.
                 * @example Communication
                 */
                category?: string;
                /**
                 * @description Only those of this connector.
                 * @example slack
                 */
                connectorId?: string;
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those whose id, title, description or tags have this text.
                 * @example message
                 */
                search?: string;
                /**
                 * @description Only those with this tag.
                 * @example chat
                 */
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogActionDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getAction: {
        parameters: {
            query?: {
                /**
                 * @description A version; the newest by default.
                 * @example 1.0.0
                 */
                version?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogActionDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    disableAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogActionDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    enableAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogActionDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    countActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionFacetsDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                /**
                 * @description Only those of this type.
                 * @example order_shipped
                 */
                alert_type?: string;
                /**
                 * @description Only those that were raised before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                before?: string;
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those of this rule, by id or key.
                 * @example order-status-notification
                 */
                rule?: string;
                /**
                 * @description Only those of this run.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run?: string;
                /**
                 * @description Only those of this severity; several mean any of them.
                 * @example [
                 *       "high",
                 *       "critical"
                 *     ]
                 */
                severity?: ("low" | "medium" | "high" | "critical")[];
                /**
                 * @description Only those that were raised at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                since?: string;
                /**
                 * @description Only those with this status; several mean any of them.
                 * @example [
                 *       "open"
                 *     ]
                 */
                status?: ("open" | "acknowledged" | "resolved")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The alert's id.
                 * @example alt_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                alert: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alert as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    acknowledgeAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The alert's id.
                 * @example alt_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                alert: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alert as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resolveAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The alert's id.
                 * @example alt_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                alert: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alert as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listConnectors: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectorDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    addConnector: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description Exactly this version was stored already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedConnectorAnswer"];
                };
            };
            /** @description The version was added. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedConnectorAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The connector's id.
                 * @example slack
                 */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connector as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectorDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    removeConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The connector's id.
                 * @example slack
                 */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connector as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectorDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listConnectorActions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The connector's id.
                 * @example slack
                 */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogActionDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    disableConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The connector's id.
                 * @example slack
                 */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connector as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectorDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    enableConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The connector's id.
                 * @example slack
                 */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connector as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectorDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    upgradeConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The connector's id.
                 * @example slack
                 */
                connector: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    to?: string;
                };
            };
        };
        responses: {
            /** @description What the upgrade did. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpgradeDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    importMcp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    name: string;
                    title?: string;
                    tools?: Record<string, unknown>[];
                    url: string;
                    with_token?: boolean;
                };
            };
        };
        responses: {
            /** @description What the import did. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    importOpenapi: {
        parameters: {
            query?: {
                /**
                 * @description Only say what the import would do; false by default.
                 * @example true
                 */
                dryRun?: boolean;
                /**
                 * @description The id of the connector.
                 * @example crm
                 */
                name?: string;
                /** @description Where the document was read from, or without a body is read from; relative servers begin there. */
                url?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description What the import did. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listDeadLetters: {
        parameters: {
            query?: {
                /**
                 * @description Only those that were written before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                before?: string;
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only those about this.
                 * @example step
                 */
                kind?: "step" | "run" | "firing" | "event";
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those with this reason.
                 * @example poison
                 */
                reason?: string;
                /**
                 * @description Only those of this run.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run?: string;
                /**
                 * @description Only open ones, or only those that were requeued.
                 * @example open
                 */
                state?: "open" | "requeued";
                /**
                 * @description Only those of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LetterDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dead letter.
                 * @example dlt_01k5c1y0s5j7x8y9z0a1b2c3d4
                 */
                letter: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LetterDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    purgeDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dead letter.
                 * @example dlt_01k5c1y0s5j7x8y9z0a1b2c3d4
                 */
                letter: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LetterDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    requeueDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dead letter.
                 * @example dlt_01k5c1y0s5j7x8y9z0a1b2c3d4
                 */
                letter: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LetterDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeManyDeadLetters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    action: "requeue" | "purge";
                    all?: boolean;
                    dry_run?: boolean;
                    filter: {
                        before?: string;
                        kind?: string;
                        reason?: string;
                        run?: string;
                        state?: string;
                        workflow?: string;
                    };
                    limit?: number;
                };
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkLettersDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listEntities: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createEntity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    fields?: Record<string, unknown>;
                    name: string;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description The entity was added. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The entity's id or its name.
                 * @example order
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The entity's id or its name.
                 * @example order
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    fields?: Record<string, unknown>;
                    name?: string;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description The entity. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deleteEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The entity's id or its name.
                 * @example order
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity that was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listEntityEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The entity's id or its name.
                 * @example order
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last 50 events of the entity. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityEventDocumentPage"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    sendEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    data?: unknown;
                    /** @description A repeated id fires nothing again. */
                    id?: string;
                    type: string;
                };
            };
        };
        responses: {
            /** @description The event was stored. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    sendEntityEvents: {
        parameters: {
            query?: {
                /**
                 * @description Answer when the runs are started, at most after this time.
                 * @example 5s
                 */
                wait?: string;
            };
            header?: {
                /**
                 * @description The id of the event, if its body has none.
                 * @example order-17-shipped
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    actor?: unknown;
                    /** @description The record; `null` if there is none. */
                    after?: Record<string, unknown>;
                    /** @description When it was changed; by default now. */
                    at?: string;
                    /** @description The record; `null` if there is none. */
                    before?: Record<string, unknown>;
                    entity: string;
                    /** @description A repeated id starts nothing again. */
                    event_id?: string;
                    /** @description The id of the record; by default its field `id`. */
                    id?: string;
                    /** @enum {string} */
                    operation: "create" | "update" | "delete";
                } | {
                    /** @description Any JSON value. */
                    actor?: unknown;
                    /** @description The record; `null` if there is none. */
                    after?: Record<string, unknown>;
                    /** @description When it was changed; by default now. */
                    at?: string;
                    /** @description The record; `null` if there is none. */
                    before?: Record<string, unknown>;
                    entity: string;
                    /** @description A repeated id starts nothing again. */
                    event_id?: string;
                    /** @description The id of the record; by default its field `id`. */
                    id?: string;
                    /** @enum {string} */
                    operation: "create" | "update" | "delete";
                }[];
            };
        };
        responses: {
            /** @description The event is stored. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityEventReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listExecutions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Add `progress` to each run.
                 * @example progress
                 */
                include?: "progress";
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Newest first, or oldest first.
                 * @example started_at
                 */
                sort?: "-started_at" | "started_at";
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
                /**
                 * @description Only runs of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchPage_detent.documents.runs.RunSummary_"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getExecution: {
        parameters: {
            query?: {
                /**
                 * @description Further lists: `actions`, `resources`, `events`, `children`, with commas.
                 * @example events
                 */
                include?: string;
                /**
                 * @description How many of each further list, 1 to 200; 100 by default.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description How many of each further list to leave out at the beginning.
                 * @example 0
                 */
                offset?: number;
                /**
                 * @description Delay the answer until the run has ended, at most so long (up to 60s).
                 * @example 30s
                 */
                wait?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    cancelExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    evaluateExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    expression?: string;
                    step?: string;
                    /** @description Any JSON value. */
                    template?: unknown;
                };
            };
        };
        responses: {
            /** @description Its value or its error. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listExecutionEvents: {
        parameters: {
            query?: {
                /**
                 * @description The `seq` of the last known entry; later entries are returned.
                 * @example 12
                 */
                after?: number;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description How long to wait for the first entry, up to 60s.
                 * @example 30s
                 */
                wait?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the journal. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    exportExecution: {
        parameters: {
            query?: {
                /**
                 * @description The run as JSON, or a test that repeats it: for pytest, or in text.
                 * @example json
                 */
                as?: "json" | "test" | "test-yaml";
                /**
                 * @description With `as=test-yaml`: the path of the definition, in place of a copy.
                 * @example order.yaml
                 */
                workflow?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportDocument"];
                    "application/yaml": unknown;
                    "text/x-python": string;
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    finishExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    forkExecution: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    output?: unknown;
                    status_code?: number;
                    step: string;
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getExecutionGraph: {
        parameters: {
            query?: {
                /**
                 * @description As its journal had it after this entry (`seq`); 0: before the first one.
                 * @example 12
                 */
                at?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getExecutionHierarchy: {
        parameters: {
            query?: {
                /**
                 * @description How many runs at most, 1 to 1000; 1000 by default.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tree. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HierarchyDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listExecutionHistory: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PastAttemptDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    moveExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    names?: {
                        [key: string]: string;
                    };
                    version?: number;
                };
            };
        };
        responses: {
            /** @description The move. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MoveDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getExecutionOutline: {
        parameters: {
            query?: {
                /**
                 * @description As its journal had it after this entry (`seq`); 0: before the first one.
                 * @example 12
                 */
                at?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outline. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutlineDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    pauseExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    reattemptExecutionStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    step?: string;
                    wait?: number | string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    rerunExecution: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    input?: unknown;
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resumeExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    previewExecutionRetry: {
        parameters: {
            query?: {
                /**
                 * @description The version that the retry would start.
                 * @example current
                 */
                version?: "same" | "current";
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a retry would do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryPreviewDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    retryExecution: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    version?: "same" | "current";
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    signalExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The signal's name.
                 * @example paid
                 */
                name: string;
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The signal was stored for the run. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignalReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    skipExecutionStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    step?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getExecutionStep: {
        parameters: {
            query?: {
                /**
                 * @description As its journal had it after this entry (`seq`); 0: before the first one.
                 * @example 12
                 */
                at?: number;
                /**
                 * @description Return every value as it is, however large.
                 * @example false
                 */
                whole?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The step. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StepDetailAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    answerExecutionStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The step has received its answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The step is not active yet; the answer is stored for it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The callback has expired. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listExecutionItems: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only items with this status, such as `failed`, `success` or `running`.
                 * @example failed
                 */
                status?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resolveExecutionStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    happened: boolean;
                    /** @description Any JSON value. */
                    output?: unknown;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    streamExecution: {
        parameters: {
            query?: {
                /**
                 * @description The `seq` of the last known entry; later entries are returned.
                 * @example 12
                 */
                after?: number;
            };
            header?: {
                /**
                 * @description The same, as browsers send it by themselves.
                 * @example 12
                 */
                "Last-Event-ID"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    explainExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What blocks the run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhyDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeManyExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    action: "cancel" | "pause" | "resume" | "retry" | "rerun";
                    all?: boolean;
                    dry_run?: boolean;
                    filter: {
                        error?: string;
                        hero?: string;
                        ids?: string | string[];
                        label?: string | string[];
                        origin?: string;
                        parent?: string;
                        request_id?: string;
                        stage?: string | string[];
                        started_after?: string;
                        started_before?: string;
                        status?: string | string[];
                        text?: string;
                        trigger?: string;
                        version?: number;
                        view?: string;
                        workflow?: string;
                    };
                    limit?: number;
                    /** @enum {string} */
                    version?: "same" | "current";
                };
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readExecutionCounts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CountsDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readExecutionFacets: {
        parameters: {
            query?: {
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description From this instant on; 24 hours before `to` by default.
                 * @example 2026-02-22T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Until this instant; now by default.
                 * @example 2026-02-23T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
                /**
                 * @description Only runs of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FacetsDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readExecutionHistogram: {
        parameters: {
            query?: {
                /**
                 * @description Into how many parts the time is cut, 1 to 200.
                 * @example 96
                 */
                buckets?: number;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description From this instant on; 24 hours before `to` by default.
                 * @example 2026-02-22T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Until this instant; now by default.
                 * @example 2026-02-23T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
                /**
                 * @description Only runs of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistogramDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    moveManyExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    filter: {
                        error?: string;
                        hero?: string;
                        ids?: string | string[];
                        label?: string | string[];
                        origin?: string;
                        parent?: string;
                        request_id?: string;
                        stage?: string | string[];
                        started_after?: string;
                        started_before?: string;
                        status?: string | string[];
                        text?: string;
                        trigger?: string;
                        version?: number;
                        view?: string;
                        workflow?: string;
                    };
                    limit?: number;
                    names?: {
                        [key: string]: string;
                    };
                    version?: number;
                };
            };
        };
        responses: {
            /** @description The runs in groups. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovesDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listAllFirings: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only firings with this status, such as `started` or `refused`.
                 * @example refused
                 */
                status?: string;
                /**
                 * @description Only firings of this type.
                 * @example webhook
                 */
                type?: "api" | "cron" | "webhook" | "event" | "manual" | "manual";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listHeroes: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only heroes whose id begins with this.
                 * @example 12
                 */
                prefix?: string;
                /**
                 * @description Only heroes of this type.
                 * @example order
                 */
                type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeroSummaryPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    tellHeroTimeline: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Its id.
                 * @example 42
                 */
                hero_id: string;
                /**
                 * @description The type of what the runs are about.
                 * @example User
                 */
                hero_type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimelineEntryPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The caller. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listNodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The nodes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listQueues: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queues. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listResources: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description The one with this id; needs `system` and `type`.
                 * @example 17
                 */
                id?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /** @description Those of this run, in the order of their links; not together with the others. */
                run?: string;
                /**
                 * @description Only resources of this system.
                 * @example monday
                 */
                system?: string;
                /**
                 * @description Only resources of this type; needs `system`.
                 * @example item
                 */
                type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourceDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRules: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only those of this entity, by id or name.
                 * @example order
                 */
                entity?: string;
                /**
                 * @description Only those that events can start, or only the others.
                 * @example true
                 */
                is_active?: boolean;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those with this text in their name, key or description.
                 * @example order
                 */
                search?: string;
                /**
                 * @description Only those of this trigger type.
                 * @example on_update
                 */
                trigger_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleSummaryPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createRule: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description Check everything that a save checks, and store nothing.
                 * @example true
                 */
                validate_only?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    canvas_layout?: Record<string, unknown>;
                    description?: string;
                    edges?: Record<string, unknown>[];
                    entity_id?: string;
                    is_active?: boolean;
                    name?: string;
                    trigger_conditions?: Record<string, unknown>;
                    trigger_type_id?: string;
                };
            };
        };
        responses: {
            /** @description With `validate_only`: the rule would be saved. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckedRuleDocumentAnswer"];
                };
            };
            /** @description The rule was created, or with `draft` its draft. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"] | components["schemas"]["RuleDraftDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRule: {
        parameters: {
            query?: {
                /**
                 * @description The number of a version; the current one by default.
                 * @example 1
                 */
                version?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    saveRule: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description Check everything that a save checks, and store nothing.
                 * @example true
                 */
                validate_only?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    canvas_layout?: Record<string, unknown>;
                    description?: string;
                    edges?: Record<string, unknown>[];
                    entity_id?: string;
                    is_active?: boolean;
                    name?: string;
                    trigger_conditions?: Record<string, unknown>;
                    trigger_type_id?: string;
                };
            };
        };
        responses: {
            /** @description The rule as it is now; with `validate_only` as it would be saved, with `draft` its draft. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"] | components["schemas"]["CheckedRuleDocumentAnswer"] | components["schemas"]["RuleDraftDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deleteRule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule was deleted at `deleted_date`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedRuleDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleActions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All actions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleActionDocumentPage"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    addRuleAction: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The action. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleActionDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRuleAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleActionDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    replaceRuleAction: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The action. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleActionDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    removeRuleAction: {
        parameters: {
            query?: {
                /**
                 * @description Let what led to it lead to what followed it.
                 * @example true
                 */
                reconnect?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action that was removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleActionDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeRuleAction: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The action's id.
                 * @example slack.post-message
                 */
                action: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The action. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleActionDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    activateRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deactivateRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleEdges: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All edges. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleEdgeDocumentPage"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    addRuleEdge: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The edge. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleEdgeDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRuleEdge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The edge's id.
                 * @example edge_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                edge: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The edge. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleEdgeDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    replaceRuleEdge: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The edge's id.
                 * @example edge_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                edge: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The edge. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleEdgeDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    removeRuleEdge: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The edge's id.
                 * @example edge_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                edge: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The edge that was removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleEdgeDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeRuleEdge: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The edge's id.
                 * @example edge_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                edge: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The edge. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleEdgeDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleExecutions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Add `progress` to each run.
                 * @example progress
                 */
                include?: "progress";
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Newest first, or oldest first.
                 * @example started_at
                 */
                sort?: "-started_at" | "started_at";
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchPage_detent.documents.runs.RunSummary_"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleFirings: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleFiringDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    saveRuleFull: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description Check everything that a save checks, and store nothing.
                 * @example true
                 */
                validate_only?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    canvas_layout?: Record<string, unknown>;
                    description?: string;
                    edges?: Record<string, unknown>[];
                    entity_id?: string;
                    is_active?: boolean;
                    name?: string;
                    trigger_conditions?: Record<string, unknown>;
                    trigger_type_id?: string;
                };
            };
        };
        responses: {
            /** @description The rule as it is now; with `validate_only` as it would be saved, with `draft` its draft. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"] | components["schemas"]["CheckedRuleDocumentAnswer"] | components["schemas"]["RuleDraftDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleHistory: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleVersionDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeLayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The layout as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LayoutDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRecentMatches: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last 50 events of its entity. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecentEventDocumentPage"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleRuns: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Add `progress` to each run.
                 * @example progress
                 */
                include?: "progress";
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Newest first, or oldest first.
                 * @example started_at
                 */
                sort?: "-started_at" | "started_at";
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchPage_detent.documents.runs.RunSummary_"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuleVersions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleVersionDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRuleVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The number of a version.
                 * @example 1
                 */
                number: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule as it was. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    restoreRule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The number of a version.
                 * @example 1
                 */
                number: string;
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createRuleFull: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description Check everything that a save checks, and store nothing.
                 * @example true
                 */
                validate_only?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    canvas_layout?: Record<string, unknown>;
                    description?: string;
                    edges?: Record<string, unknown>[];
                    entity_id?: string;
                    is_active?: boolean;
                    name?: string;
                    trigger_conditions?: Record<string, unknown>;
                    trigger_type_id?: string;
                };
            };
        };
        responses: {
            /** @description With `validate_only`: the rule would be saved. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckedRuleDocumentAnswer"];
                };
            };
            /** @description The rule was created, or with `draft` its draft. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocumentAnswer"] | components["schemas"]["RuleDraftDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    matchRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    actor?: unknown;
                    /** @description The record; `null` if there is none. */
                    after?: Record<string, unknown>;
                    /** @description When it was changed; by default now. */
                    at?: string;
                    /** @description The record; `null` if there is none. */
                    before?: Record<string, unknown>;
                    entity: string;
                    /** @description A repeated id starts nothing again. */
                    event_id?: string;
                    /** @description The id of the record; by default its field `id`. */
                    id?: string;
                    /** @enum {string} */
                    operation: "create" | "update" | "delete";
                    rule?: string;
                };
            };
        };
        responses: {
            /** @description One answer for each rule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleMatchDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Add `progress` to each run.
                 * @example progress
                 */
                include?: "progress";
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Newest first, or oldest first.
                 * @example started_at
                 */
                sort?: "-started_at" | "started_at";
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
                /**
                 * @description Only runs of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchPage_detent.documents.runs.RunSummary_"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRun: {
        parameters: {
            query?: {
                /**
                 * @description Further lists: `actions`, `resources`, `events`, `children`, with commas.
                 * @example events
                 */
                include?: string;
                /**
                 * @description How many of each further list, 1 to 200; 100 by default.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description How many of each further list to leave out at the beginning.
                 * @example 0
                 */
                offset?: number;
                /**
                 * @description Delay the answer until the run has ended, at most so long (up to 60s).
                 * @example 30s
                 */
                wait?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    evaluateRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    expression?: string;
                    step?: string;
                    /** @description Any JSON value. */
                    template?: unknown;
                };
            };
        };
        responses: {
            /** @description Its value or its error. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRunEvents: {
        parameters: {
            query?: {
                /**
                 * @description The `seq` of the last known entry; later entries are returned.
                 * @example 12
                 */
                after?: number;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description How long to wait for the first entry, up to 60s.
                 * @example 30s
                 */
                wait?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the journal. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    exportRun: {
        parameters: {
            query?: {
                /**
                 * @description The run as JSON, or a test that repeats it: for pytest, or in text.
                 * @example json
                 */
                as?: "json" | "test" | "test-yaml";
                /**
                 * @description With `as=test-yaml`: the path of the definition, in place of a copy.
                 * @example order.yaml
                 */
                workflow?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportDocument"];
                    "application/yaml": unknown;
                    "text/x-python": string;
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    finishRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    forkRun: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    output?: unknown;
                    status_code?: number;
                    step: string;
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRunGraph: {
        parameters: {
            query?: {
                /**
                 * @description As its journal had it after this entry (`seq`); 0: before the first one.
                 * @example 12
                 */
                at?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRunHierarchy: {
        parameters: {
            query?: {
                /**
                 * @description How many runs at most, 1 to 1000; 1000 by default.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tree. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HierarchyDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRunHistory: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PastAttemptDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    moveRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    names?: {
                        [key: string]: string;
                    };
                    version?: number;
                };
            };
        };
        responses: {
            /** @description The move. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MoveDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRunOutline: {
        parameters: {
            query?: {
                /**
                 * @description As its journal had it after this entry (`seq`); 0: before the first one.
                 * @example 12
                 */
                at?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outline. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutlineDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    pauseRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    reattemptRunStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    step?: string;
                    wait?: number | string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    rerunRun: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    input?: unknown;
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resumeRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    previewRunRetry: {
        parameters: {
            query?: {
                /**
                 * @description The version that the retry would start.
                 * @example current
                 */
                version?: "same" | "current";
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a retry would do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryPreviewDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    retryRun: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    version?: "same" | "current";
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    signalRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The signal's name.
                 * @example paid
                 */
                name: string;
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The signal was stored for the run. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignalReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    skipRunStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    step?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRunStep: {
        parameters: {
            query?: {
                /**
                 * @description As its journal had it after this entry (`seq`); 0: before the first one.
                 * @example 12
                 */
                at?: number;
                /**
                 * @description Return every value as it is, however large.
                 * @example false
                 */
                whole?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The step. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StepDetailAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    answerRunStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The step has received its answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The step is not active yet; the answer is stored for it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The callback has expired. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRunItems: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only items with this status, such as `failed`, `success` or `running`.
                 * @example failed
                 */
                status?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resolveRunStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The step's name.
                 * @example charge
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    happened: boolean;
                    /** @description Any JSON value. */
                    output?: unknown;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    streamRun: {
        parameters: {
            query?: {
                /**
                 * @description The `seq` of the last known entry; later entries are returned.
                 * @example 12
                 */
                after?: number;
            };
            header?: {
                /**
                 * @description The same, as browsers send it by themselves.
                 * @example 12
                 */
                "Last-Event-ID"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    explainRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What blocks the run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhyDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeManyRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    action: "cancel" | "pause" | "resume" | "retry" | "rerun";
                    all?: boolean;
                    dry_run?: boolean;
                    filter: {
                        error?: string;
                        hero?: string;
                        ids?: string | string[];
                        label?: string | string[];
                        origin?: string;
                        parent?: string;
                        request_id?: string;
                        stage?: string | string[];
                        started_after?: string;
                        started_before?: string;
                        status?: string | string[];
                        text?: string;
                        trigger?: string;
                        version?: number;
                        view?: string;
                        workflow?: string;
                    };
                    limit?: number;
                    /** @enum {string} */
                    version?: "same" | "current";
                };
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readRunCounts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CountsDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readRunFacets: {
        parameters: {
            query?: {
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description From this instant on; 24 hours before `to` by default.
                 * @example 2026-02-22T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Until this instant; now by default.
                 * @example 2026-02-23T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
                /**
                 * @description Only runs of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FacetsDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readRunHistogram: {
        parameters: {
            query?: {
                /**
                 * @description Into how many parts the time is cut, 1 to 200.
                 * @example 96
                 */
                buckets?: number;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description From this instant on; 24 hours before `to` by default.
                 * @example 2026-02-22T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Until this instant; now by default.
                 * @example 2026-02-23T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
                /**
                 * @description Only runs of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistogramDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    moveManyRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    filter: {
                        error?: string;
                        hero?: string;
                        ids?: string | string[];
                        label?: string | string[];
                        origin?: string;
                        parent?: string;
                        request_id?: string;
                        stage?: string | string[];
                        started_after?: string;
                        started_before?: string;
                        status?: string | string[];
                        text?: string;
                        trigger?: string;
                        version?: number;
                        view?: string;
                        workflow?: string;
                    };
                    limit?: number;
                    names?: {
                        [key: string]: string;
                    };
                    version?: number;
                };
            };
        };
        responses: {
            /** @description The runs in groups. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovesDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    previewSchedule: {
        parameters: {
            query?: {
                /**
                 * @description How many at most, 1 to 100.
                 * @example 10
                 */
                count?: number;
                /**
                 * @description Minute, hour, day, month, weekday.
                 * @example 0 9 * * 1-5
                 */
                cron_expression?: string;
                /**
                 * @description An IANA time zone; UTC by default.
                 * @example Europe/Zurich
                 */
                timezone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The slots. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListStrAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readSchema: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The form of definitions.
                 * @example graph
                 */
                form: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schema, draft 2020-12. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    search: {
        parameters: {
            query?: {
                /**
                 * @description How many of each kind at most.
                 * @example 8
                 */
                limit?: number;
                /**
                 * @description A name, an id, a request id or a hero such as `order:123`.
                 * @example order-7
                 */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listWorkflowStats: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Count the runs of so many days.
                 * @example 7
                 */
                days?: number;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only these workflows, by name; unknown ones are left out.
                 * @example [
                 *       "order-processing"
                 *     ]
                 */
                workflow?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStatsPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getStorage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Bytes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageDocumentAnswer"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    streamTopics: {
        parameters: {
            query?: {
                /**
                 * @description Up to 64 topics with commas between them, each percent-encoded: `counts`, `inbox`, `alerts`, `runs:FILTER;ids=RUN,RUN` (a filter as in the query of `/runs`, and the runs on screen), `run:RUN@SEQ`, `firings:FILTER` (by `trigger`, `type` and `status`).
                 * @example counts,run%3Arun_01k5c1v6p2f7x8y9z0a1b2c3d4%4012
                 */
                topics?: string;
            };
            header?: {
                /**
                 * @description The `id` of the last event; the stream goes on after it.
                 * @example -,12
                 */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listTemplateSets: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those of this team.
                 * @example product
                 */
                team?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateSetDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    saveTemplateSet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a template set.
                 * @example project-briefs
                 */
                template_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    enabled?: boolean;
                    team?: string;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description The set was changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateSetDocumentAnswer"];
                };
            };
            /** @description The set is new. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateSetDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listDocumentTemplates: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those of this set.
                 * @example project-briefs
                 */
                set?: string;
                /**
                 * @description Only those of this team.
                 * @example product
                 */
                team?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentTemplateDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createDocumentTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    body: string;
                    fields?: Record<string, unknown>;
                    format?: string;
                    help?: string;
                    id: string;
                    set: string;
                    title: string;
                };
            };
        };
        responses: {
            /** @description Version 1. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getDocumentTemplateOfSet: {
        parameters: {
            query?: {
                /**
                 * @description A version; the newest one that is enabled by default.
                 * @example 1
                 */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
                /**
                 * @description The id of a template set.
                 * @example project-briefs
                 */
                template_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getDocumentTemplate: {
        parameters: {
            query?: {
                /**
                 * @description The set of the template; needed only if several sets have its id.
                 * @example project-briefs
                 */
                set?: string;
                /**
                 * @description A version; the newest one that is enabled by default.
                 * @example 1
                 */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    saveDocumentTemplate: {
        parameters: {
            query?: {
                /**
                 * @description The set of the template; needed only if several sets have its id.
                 * @example project-briefs
                 */
                set?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    body: string;
                    fields?: Record<string, unknown>;
                    format?: string;
                    help?: string;
                    id?: string;
                    set?: string;
                    title: string;
                };
            };
        };
        responses: {
            /** @description The newest version has this text already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedTemplateAnswer"];
                };
            };
            /** @description The version was added. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedTemplateAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    disableDocumentTemplate: {
        parameters: {
            query?: {
                /**
                 * @description The set of the template; needed only if several sets have its id.
                 * @example project-briefs
                 */
                set?: string;
                /**
                 * @description A version; all of them by default.
                 * @example 1
                 */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    enableDocumentTemplate: {
        parameters: {
            query?: {
                /**
                 * @description The set of the template; needed only if several sets have its id.
                 * @example project-briefs
                 */
                set?: string;
                /**
                 * @description A version; all of them by default.
                 * @example 1
                 */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    renderDocumentTemplate: {
        parameters: {
            query?: {
                /**
                 * @description The set of the template; needed only if several sets have its id.
                 * @example project-briefs
                 */
                set?: string;
                /**
                 * @description A version; the newest one that is enabled by default.
                 * @example 1
                 */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    answers?: Record<string, unknown>;
                    extras?: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenderingDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listWorkflowTemplates: {
        parameters: {
            query?: {
                /**
                 * @description Only those of this category.
                 * @example people
                 */
                category?: string;
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only those that are part of Detent, or only your own.
                 * @example true
                 */
                isOfficial?: boolean;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those with this text in id, title, description, category or tags.
                 * @example slack
                 */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowTemplateDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createWorkflowTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    author?: string;
                    category?: string;
                    config_schema?: Record<string, unknown>;
                    definition: Record<string, unknown>;
                    description?: string;
                    id: string;
                    tags?: string[];
                    thumbnail_url?: string;
                    title: string;
                };
            };
        };
        responses: {
            /** @description The template was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowTemplateDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getWorkflowTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowTemplateDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deleteWorkflowTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template that was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowTemplateDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    instantiateWorkflowTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The template's id.
                 * @example mobile-app
                 */
                template: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    config?: Record<string, unknown>;
                    display_name?: string;
                    name?: string;
                };
            };
        };
        responses: {
            /** @description The draft of the workflow. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstantiatedDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    tellTimeline: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description The hero, `type:id`.
                 * @example User:42
                 */
                hero?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimelineEntryPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listTriggerTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All trigger types. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerTypeDocumentPage"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listTriggers: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only those that fire, or only those that are paused.
                 * @example true
                 */
                enabled?: boolean;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those of this type.
                 * @example cron
                 */
                type?: "cron" | "webhook" | "event" | "manual";
                /**
                 * @description Only those of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    condition?: string;
                    /** @description The fields of its type, as in a definition's block. */
                    config?: Record<string, unknown>;
                    enabled?: boolean;
                    name?: string;
                    note?: string;
                    type: string;
                    workflow: string;
                };
            };
        };
        responses: {
            /** @description The trigger was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    updateTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    condition?: string;
                    /** @description The fields of its type, as in a definition's block. */
                    config?: Record<string, unknown>;
                    enabled?: boolean;
                    name?: string;
                    note?: string;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description The trigger as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    callTrigger: {
        parameters: {
            query?: {
                /**
                 * @description Start it beside an active run of that hero, even with `one_per_hero`.
                 * @example true
                 */
                allow_multiple?: boolean;
                /**
                 * @description What the run is about, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description A label of the run, `key:value`.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description When the run begins: an instant, or a time from now.
                 * @example 10m
                 */
                start_at?: string;
            };
            header?: {
                /**
                 * @description Or `Idempotency-Key`, or the `dedup_header` of the trigger: a repeated id starts nothing more.
                 * @example msg_77
                 */
                "webhook-id"?: string;
            };
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description A run was started. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDocumentAnswer"];
                };
            };
            /** @description Nothing was started, or nothing yet. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The signature is not valid. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Too many unknown tokens from this source. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deleteTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    backfillTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    /** Format: date-time */
                    from: string;
                    /** Format: date-time */
                    to: string;
                };
            };
        };
        responses: {
            /** @description The slots. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    fireTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Any JSON value. */
                    body?: unknown;
                };
            };
        };
        responses: {
            /** @description The firing and its result. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listFirings: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those.
                 * @example refused
                 */
                state?: "due" | "starting" | "queued" | "started" | "ignored" | "refused" | "skipped" | "errored" | "missed";
            };
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getFiring: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The firing's id.
                 * @example fir_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                firing: string;
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The firing. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    replayFiring: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The firing's id.
                 * @example fir_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                firing: string;
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The firing and its result. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    nextSlotsOfTrigger: {
        parameters: {
            query?: {
                /**
                 * @description How many at most, 1 to 100.
                 * @example 10
                 */
                count?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The slots. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListStrAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    pauseTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The trigger as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resumeTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The trigger's id.
                 * @example trg_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listWaits: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only waits of runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only waits of this workflow, by id or name.
                 * @example order-processing
                 */
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitItemPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only those that may be started, or only those that may not.
                 * @example true
                 */
                enabled?: boolean;
                /**
                 * @description Only those with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only those with this text in their name or title.
                 * @example order
                 */
                search?: string;
                /**
                 * @description Only those that are `draft`, `active` or `archived`.
                 * @example active
                 */
                status?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    edges?: Record<string, unknown>[];
                    id?: string;
                    name?: string;
                    nodes?: Record<string, unknown>[];
                    tasks?: Record<string, unknown>;
                };
                "application/yaml": {
                    actions?: Record<string, unknown>[];
                    edges?: Record<string, unknown>[];
                    id?: string;
                    name?: string;
                    nodes?: Record<string, unknown>[];
                    tasks?: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description The draft of the workflow was replaced. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description The workflow was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description `json`, or `text`: only the definition, with its comments if the form is its own.
                 * @example text
                 */
                as?: string;
                /**
                 * @description The form of the definition: `steps`, `graph` or `rule`; as stored by default.
                 * @example graph
                 */
                form?: string;
                /**
                 * @description A number or `draft`; the current version by default.
                 * @example 1
                 */
                version?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                    "application/yaml": unknown;
                    "text/plain": string;
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    saveWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description The id of the folder of files that the edit comes from.
                 * @example shop
                 */
                folder?: string;
                /**
                 * @description Edit it although a folder of files manages it.
                 * @example false
                 */
                unlock?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced; 412 if it has changed.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    edges?: Record<string, unknown>[];
                    id?: string;
                    name?: string;
                    nodes?: Record<string, unknown>[];
                    tasks?: Record<string, unknown>;
                };
                "application/yaml": {
                    actions?: Record<string, unknown>[];
                    edges?: Record<string, unknown>[];
                    id?: string;
                    name?: string;
                    nodes?: Record<string, unknown>[];
                    tasks?: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description The workflow existed already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowAnswer"];
                };
            };
            /** @description The workflow is new. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    deleteWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description The id of the folder of files that the edit comes from.
                 * @example shop
                 */
                folder?: string;
                /**
                 * @description Edit it although a folder of files manages it.
                 * @example false
                 */
                unlock?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced; 412 if it has changed.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow was deleted at `deleted_at`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    archiveWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description The id of the folder of files that the edit comes from.
                 * @example shop
                 */
                folder?: string;
                /**
                 * @description Edit it although a folder of files manages it.
                 * @example false
                 */
                unlock?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    compareWorkflowVersions: {
        parameters: {
            query?: {
                /**
                 * @description A number or `draft`; the current version by default.
                 * @example 1
                 */
                from?: string;
                /**
                 * @description A number or `draft`; by default the draft, or else the newest version.
                 * @example draft
                 */
                to?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What differs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    disableWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getWorkflowDraft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The draft. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    discardWorkflowDraft: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the draft; 412 if it was saved again since.
                 * @example "d3"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The draft that was discarded. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    enableWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    executeWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Start it beside an active run of that hero, even with `one_per_hero`.
                 * @example true
                 */
                allow_multiple?: boolean;
                /**
                 * @description Start nothing, and say what the run would do.
                 * @example false
                 */
                dry_run?: boolean;
                /**
                 * @description Of a dry run: take the answers to effects from this past run.
                 * @example run_01h455vb4pex5vsknk084sn02q
                 */
                from_run?: string;
                /**
                 * @description What the run is about, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description A label of the run, `key:value`.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description When it begins: an instant, or a time from now. Until then it is pending.
                 * @example 10m
                 */
                start_at?: string;
                /**
                 * @description The version to run, a number; `draft` runs the draft. The current one by default.
                 * @example 1
                 */
                version?: string;
                /**
                 * @description Delay the answer until the run has ended, at most so long (up to 60s).
                 * @example 30s
                 */
                wait?: string;
            };
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Start beside an active run of that hero, even with `one_per_hero`. */
                    allowMultiple?: boolean;
                    /** @description Of a dry run: the answers to effects, by step. Each is a value, or says more with `$`. */
                    answers?: {
                        [key: string]: unknown;
                    };
                    /** @description An id of the caller, for the run and all runs below it. */
                    correlationId?: string;
                    /** @description Start nothing and say what the run would do. */
                    dryRun?: boolean;
                    /** @description Of a dry run: take answers from this past run. */
                    fromRun?: string;
                    hero?: {
                        id: string;
                        type: string;
                    };
                    labels?: {
                        [key: string]: string;
                    };
                    principal?: {
                        displayName?: string;
                        email?: string;
                        userId: string;
                    };
                    priority?: number;
                    /** @description One id starts at most one run. */
                    requestId?: string;
                    /** @description Any JSON value. */
                    spec?: unknown;
                    /** @description An instant, or a time from now such as `10m`. */
                    startAt?: string;
                    /** @enum {string} */
                    tenantId?: "default";
                    /** @description What becomes `trigger.body`, any JSON value. */
                    trigger?: unknown;
                    /** @description The version to run, a number; `draft` runs the draft. The current one by default. */
                    version?: number | string;
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it started. Or a dry run: what the run would do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionStartedAnswer"] | components["schemas"]["DryRunDocumentAnswer"];
                };
            };
            /** @description The run was started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionStartedAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getWorkflowGrid: {
        parameters: {
            query?: {
                /**
                 * @description How many runs, 1 to 100.
                 * @example 50
                 */
                runs?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The grid. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GridDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    publishWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Make the version current and the workflow active; true by default.
                 * @example true
                 */
                autoActivate?: boolean;
                /**
                 * @description With `rehearse`: finished runs of so many days, by default 7.
                 * @example 7
                 */
                days?: number;
                /**
                 * @description The id of the folder of files that the edit comes from.
                 * @example shop
                 */
                folder?: string;
                /**
                 * @description `report`: rehearse the draft first. `strict`: and refuse it if need be.
                 * @example strict
                 */
                rehearse?: "report" | "strict";
                /**
                 * @description Edit it although a folder of files manages it.
                 * @example false
                 */
                unlock?: boolean;
                /**
                 * @description Also refuse templates that no input can render.
                 * @example false
                 */
                validateParameters?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the draft; 412 if it was saved again since.
                 * @example "d3"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version of the draft. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    reactivateWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description The id of the folder of files that the edit comes from.
                 * @example shop
                 */
                folder?: string;
                /**
                 * @description Edit it although a folder of files manages it.
                 * @example false
                 */
                unlock?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    rehearseWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Finished runs of so many days, by default 7.
                 * @example 7
                 */
                days?: number;
                /**
                 * @description Rehearse this version instead of a draft.
                 * @example 3
                 */
                version?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    edges?: Record<string, unknown>[];
                    id?: string;
                    name?: string;
                    nodes?: Record<string, unknown>[];
                    tasks?: Record<string, unknown>;
                };
                "application/yaml": {
                    actions?: Record<string, unknown>[];
                    edges?: Record<string, unknown>[];
                    id?: string;
                    name?: string;
                    nodes?: Record<string, unknown>[];
                    tasks?: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description What would happen. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RehearsalDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listRunsOfWorkflow: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs whose error has this text, whatever the case of letters.
                 * @example refused
                 */
                error?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description Only these runs: up to 200 ids with commas.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                ids?: string;
                /**
                 * @description Add `progress` to each run.
                 * @example progress
                 */
                include?: "progress";
                /**
                 * @description Only runs with this label, `key:value`; several mean all of them.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only runs made from this run by retry, rerun or fork.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                origin?: string;
                /**
                 * @description Only runs that this run started, with the pages of its maps.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                parent?: string;
                /**
                 * @description Only the run that this request id started.
                 * @example order-123
                 */
                request_id?: string;
                /**
                 * @description Newest first, or oldest first.
                 * @example started_at
                 */
                sort?: "-started_at" | "started_at";
                /**
                 * @description Only open runs at this stage; several mean any of them.
                 * @example [
                 *       "waiting",
                 *       "person"
                 *     ]
                 */
                stage?: ("queued" | "running" | "waiting" | "person" | "child" | "sleeping" | "retrying" | "delayed" | "paused" | "uncertain")[];
                /**
                 * @description Only runs accepted at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs accepted before this instant.
                 * @example 2026-02-23T00:00:00Z
                 */
                started_before?: string;
                /**
                 * @description Only runs with this status; several mean any of them. `active` are runs that have not ended, `performing` runs that a node owns, `ready` runs that no node owns and that are not paused.
                 * @example [
                 *       "failed",
                 *       "timeout"
                 *     ]
                 */
                status?: ("pending" | "running" | "paused" | "completed" | "failed" | "cancelled" | "timeout" | "active" | "ready" | "performing")[];
                /**
                 * @description Only runs with this text, whatever the case of letters, in the name of the workflow, the hero's id, the value of a label, the error, the request id or the step they wait at; or with this id, or its last 6 or more digits.
                 * @example payment
                 */
                text?: string;
                /**
                 * @description Only runs started by this: api, cron, webhook, event, manual, map, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
                /**
                 * @description Only runs of this version of their workflow.
                 * @example 3
                 */
                version?: number;
                /**
                 * @description A saved view: `running`, `waiting` (for a callback or an answer), `person`, `failed`, `failing` (failed within 24 hours), `stuck` (due for an hour and taken by no node, or its node is gone), `paused`.
                 * @example failing
                 */
                view?: "running" | "waiting" | "person" | "failed" | "failing" | "stuck" | "paused";
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchPage_detent.documents.runs.RunSummary_"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRunOfWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Further lists: `actions`, `resources`, `events`, `children`, with commas.
                 * @example events
                 */
                include?: string;
                /**
                 * @description How many of each further list, 1 to 200; 100 by default.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description How many of each further list to leave out at the beginning.
                 * @example 0
                 */
                offset?: number;
                /**
                 * @description Delay the answer until the run has ended, at most so long (up to 60s).
                 * @example 30s
                 */
                wait?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    cancelRunOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    finishRunOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    moveRunOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    dry_run?: boolean;
                    names?: {
                        [key: string]: string;
                    };
                    version?: number;
                };
            };
        };
        responses: {
            /** @description The move. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MoveDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    pauseRunOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    reattemptRunStepOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    step?: string;
                    wait?: number | string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    resumeRunOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    previewRunRetryOfWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description The version that the retry would start.
                 * @example current
                 */
                version?: "same" | "current";
            };
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a retry would do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryPreviewDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    retryRunOfWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    version?: "same" | "current";
                };
            };
        };
        responses: {
            /** @description The request id is known: this is the run it made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    skipRunStepOfWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run's id.
                 * @example run_01k5c1v6p2f7x8y9z0a1b2c3d4
                 */
                run: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    step?: string;
                };
            };
        };
        responses: {
            /** @description The run as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getWorkflowStats: {
        parameters: {
            query?: {
                /**
                 * @description Count the runs of so many days.
                 * @example 7
                 */
                days?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statistics. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStatsAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    triggerWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Start it beside an active run of that hero, even with `one_per_hero`.
                 * @example true
                 */
                allow_multiple?: boolean;
                /**
                 * @description Start nothing, and say what the run would do.
                 * @example false
                 */
                dry_run?: boolean;
                /**
                 * @description Of a dry run: take the answers to effects from this past run.
                 * @example run_01h455vb4pex5vsknk084sn02q
                 */
                from_run?: string;
                /**
                 * @description What the run is about, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description A label of the run, `key:value`.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description When it begins: an instant, or a time from now. Until then it is pending.
                 * @example 10m
                 */
                start_at?: string;
                /**
                 * @description The version to run, a number; `draft` runs the draft. The current one by default.
                 * @example 1
                 */
                version?: string;
                /**
                 * @description Delay the answer until the run has ended, at most so long (up to 60s).
                 * @example 30s
                 */
                wait?: string;
            };
            header?: {
                /**
                 * @description A request id, up to 255 characters. The same id again returns the run that it started first.
                 * @example order-123
                 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The request id is known: this is the run it started. Or a dry run: what the run would do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedDocumentAnswer"] | components["schemas"]["DryRunDocumentAnswer"];
                };
            };
            /** @description The run was started. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    unlockWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listWorkflowVersions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description List the drafts that were run instead; their numbers are below zero.
                 * @example false
                 */
                drafts?: boolean;
                /**
                 * @description How many at most, 1 to 200.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getWorkflowVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The number of a version.
                 * @example 1
                 */
                number: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionDocumentAnswer"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    activateWorkflowVersion: {
        parameters: {
            query?: {
                /**
                 * @description The id of the folder of files that the edit comes from.
                 * @example shop
                 */
                folder?: string;
                /**
                 * @description Edit it although a folder of files manages it.
                 * @example false
                 */
                unlock?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The number of a version.
                 * @example 1
                 */
                number: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getVersionGraph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The number of a version, `current` or `draft`.
                 * @example current
                 */
                version: string;
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    planWorkflows: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    definitions: {
                        file?: string;
                        text: string;
                    }[];
                    folder?: string;
                };
            };
        };
        responses: {
            /** @description What each save would do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlannedChangeDocumentPage"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listReferenceActionTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All action types. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionTypeDocument"][];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listReferenceEntities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All entities. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDocument"][];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getFullRule: {
        parameters: {
            query?: {
                /**
                 * @description The number of a version; the current one by default.
                 * @example 1
                 */
                version?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocument"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    saveFullRule: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description Check everything that a save checks, and store nothing.
                 * @example true
                 */
                validate_only?: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of the state that may be replaced. If it has changed, 412 with who changed it, when and what.
                 * @example "v1.1771754700000000"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    canvas_layout?: Record<string, unknown>;
                    description?: string;
                    edges?: Record<string, unknown>[];
                    entity_id?: string;
                    is_active?: boolean;
                    name?: string;
                    trigger_conditions?: Record<string, unknown>;
                    trigger_type_id?: string;
                };
            };
        };
        responses: {
            /** @description The rule as it is now; with `validate_only` as it would be saved, with `draft` its draft. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocument"] | components["schemas"]["CheckedRuleDocument"] | components["schemas"]["RuleDraftDocument"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description It has changed since it was read. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    changeLayoutBare: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The rule's id or its key.
                 * @example order-status-notification
                 */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description The layout as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LayoutDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    createFullRule: {
        parameters: {
            query?: {
                /**
                 * @description Save a draft: anything that can be read, with its problems.
                 * @example false
                 */
                draft?: boolean;
                /**
                 * @description Check everything that a save checks, and store nothing.
                 * @example true
                 */
                validate_only?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    actions?: Record<string, unknown>[];
                    canvas_layout?: Record<string, unknown>;
                    description?: string;
                    edges?: Record<string, unknown>[];
                    entity_id?: string;
                    is_active?: boolean;
                    name?: string;
                    trigger_conditions?: Record<string, unknown>;
                    trigger_type_id?: string;
                };
            };
        };
        responses: {
            /** @description With `validate_only`: the rule would be saved. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckedRuleDocument"];
                };
            };
            /** @description The rule was created, or with `draft` its draft. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDocument"] | components["schemas"]["RuleDraftDocument"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listReferenceTriggerTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All trigger types. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerTypeDocument"][];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    receiveCallbackByWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The token at the end of the callback's address.
                 * @example AZk3…
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The step has received its callback. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The step is not active yet; the callback is stored for it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The callback has expired. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Too many unknown tokens from this source. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    callWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Start it beside an active run of that hero, even with `one_per_hero`.
                 * @example true
                 */
                allow_multiple?: boolean;
                /**
                 * @description What the run is about, `type:id`.
                 * @example order:123
                 */
                hero?: string;
                /**
                 * @description A label of the run, `key:value`.
                 * @example [
                 *       "team:shop"
                 *     ]
                 */
                label?: string[];
                /**
                 * @description When the run begins: an instant, or a time from now.
                 * @example 10m
                 */
                start_at?: string;
            };
            header?: {
                /**
                 * @description Or `Idempotency-Key`, or the `dedup_header` of the trigger: a repeated id starts nothing more.
                 * @example msg_77
                 */
                "webhook-id"?: string;
            };
            path: {
                /**
                 * @description The workflow's id or its name.
                 * @example order-processing
                 */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description A run was started. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDocumentAnswer"];
                };
            };
            /** @description Nothing was started, or nothing yet. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDocumentAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The signature is not valid. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not allowed from this origin or under this host name. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Too many unknown tokens from this source. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    receiveCallback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The token at the end of the callback's address.
                 * @example AZk3…
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The step has received its callback. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The step is not active yet; the callback is stored for it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackReceiptAnswer"];
                };
            };
            /** @description The request is invalid; `details` says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The current state does not allow this. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The callback has expired. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description The body is larger than its limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Too many unknown tokens from this source. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Not available now; try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
}
