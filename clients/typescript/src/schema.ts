/** Made from Detent's OpenAPI document by `make clients`. Not written by hand. */

export interface paths {
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
         *     statuses such as `Succeeded`, are accepted too.
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
         */
        post: operations["forkExecution"];
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
         * @description Return the tree of parents and children of a run. Its root is the run that was started first.
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
        get?: never;
        put?: never;
        /**
         * Retry a run
         * @description Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
         *     steps that succeeded before them are reused; these steps do not run again. The old run does not change.
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
         *     action. A run is retried or rerun this way only once.
         */
        post: operations["changeManyExecutions"];
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
         *     statuses such as `Succeeded`, are accepted too.
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
         */
        post: operations["forkRun"];
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
         * @description Return the tree of parents and children of a run. Its root is the run that was started first.
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
        get?: never;
        put?: never;
        /**
         * Retry a run
         * @description Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
         *     steps that succeeded before them are reused; these steps do not run again. The old run does not change.
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
         *     action. A run is retried or rerun this way only once.
         */
        post: operations["changeManyRuns"];
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
         */
        get: operations["getWorkflow"];
        /**
         * Create a workflow or give it a new version
         * @description Save a definition. It becomes a new version only if no version has its text; otherwise that version becomes the
         *     current one. Runs in flight stay on their version. A form that has to be published is saved as a draft, and so is
         *     every form with `draft`: the current version stays as it is.
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
         *     written in snake_case too.
         */
        post: operations["executeWorkflow"];
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
         *     statuses such as `Succeeded`, are accepted too.
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
        get?: never;
        put?: never;
        /**
         * Retry a run
         * @description Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
         *     steps that succeeded before them are reused; these steps do not run again. The old run does not change.
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
         *     run is durable and will come to an end.
         */
        post: operations["triggerWorkflow"];
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
        /** ActionDocument */
        ActionDocument: {
            attempt: number;
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            /** Format: date-time */
            finished_at: string;
            retry_at: string | null;
            /** Format: date-time */
            started_at: string;
            status: string | null;
            step: string;
            type: string;
        };
        /** AttemptDocument */
        AttemptDocument: {
            attempt: number;
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            /** Format: date-time */
            finished_at: string;
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
        /** BulkDocument */
        BulkDocument: {
            action: string;
            done: number;
            dry_run: boolean;
            matched: number;
            more: boolean;
            refused: components["schemas"]["RefusedDocument"][];
        };
        /** One[BulkDocument] */
        BulkDocumentAnswer: {
            data: components["schemas"]["BulkDocument"];
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
        /** Details */
        Details: {
            run_id?: string | null;
            validation_errors?: components["schemas"]["FieldProblem"][];
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
        /** EntryDocument */
        EntryDocument: {
            /** Format: date-time */
            at: string;
            attempt: number | null;
            by: string | null;
            carried: string[];
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            failed: {
                [key: string]: components["schemas"]["StepFailure"];
            };
            finished: boolean;
            kind: string;
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
            wait_until: {
                [key: string]: string | null;
            };
        };
        /** Many[EntryDocument] */
        EntryDocumentPage: {
            data: components["schemas"]["EntryDocument"][];
            next_cursor?: string | null;
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
        /** ExpressionProblem */
        ExpressionProblem: {
            at: (string | number)[];
            kind: string;
            message: string;
            position: number | null;
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
        /** Health */
        Health: {
            status: string;
        };
        /** HeroDocument */
        HeroDocument: {
            id: string;
            type: string;
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
        /** One[list[str]] */
        ListStrAnswer: {
            data: string[];
        };
        /** MatchedTrigger */
        MatchedTrigger: {
            firing_id: string;
            run_id: string | null;
            status: string;
            trigger_id: string;
        };
        /** OriginDocument */
        OriginDocument: {
            kind: string;
            run_id: string;
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
        /** PublishedDocument */
        PublishedDocument: {
            changed: boolean;
            current_version: number;
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
        /** RunDocument */
        RunDocument: {
            actions?: components["schemas"]["ActionDocument"][] | null;
            callbacks: components["schemas"]["CallbackDocument"][];
            cancel_requested?: boolean | null;
            children?: components["schemas"]["RunSummary"][] | null;
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
            origin: components["schemas"]["OriginDocument"] | null;
            output: unknown;
            parent?: components["schemas"]["ParentDocument"] | null;
            pause_requested?: boolean | null;
            paused_by: string | null;
            paused_step: string | null;
            reattempt_requested?: boolean | null;
            request_id: string | null;
            resolve_requested?: boolean | null;
            resources?: {
                [key: string]: unknown;
            }[] | null;
            resume_requested?: boolean | null;
            skip_requested?: boolean | null;
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
        /** RunSummary */
        RunSummary: {
            error: string | null;
            execution_id?: string | null;
            expires_at: string | null;
            finished_at: string | null;
            hero: components["schemas"]["HeroDocument"] | null;
            id: string;
            labels: {
                [key: string]: string;
            };
            origin: components["schemas"]["OriginDocument"] | null;
            parent?: components["schemas"]["ParentDocument"] | null;
            request_id: string | null;
            start_at: string | null;
            started_at: string | null;
            status: string;
            trigger: string;
            trigger_id: string | null;
            version: number;
            workflow: string;
            workflow_id: string;
        };
        /** Many[RunSummary] */
        RunSummaryPage: {
            data: components["schemas"]["RunSummary"][];
            next_cursor?: string | null;
        };
        /** RunTree */
        RunTree: {
            children: components["schemas"]["RunTree"][];
            error: string | null;
            execution_id?: string | null;
            expires_at: string | null;
            finished_at: string | null;
            hero: components["schemas"]["HeroDocument"] | null;
            id: string;
            labels: {
                [key: string]: string;
            };
            /** @default false */
            more: boolean;
            origin: components["schemas"]["OriginDocument"] | null;
            parent?: components["schemas"]["ParentDocument"] | null;
            request_id: string | null;
            start_at: string | null;
            started_at: string | null;
            status: string;
            trigger: string;
            trigger_id: string | null;
            version: number;
            workflow: string;
            workflow_id: string;
        };
        /** SavedWorkflowAnswer */
        SavedWorkflowAnswer: {
            changed: boolean;
            data: components["schemas"]["WorkflowDocument"];
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
        /** StepFailure */
        StepFailure: {
            code: string;
            detail: unknown;
            message: string;
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
        /** TimelineEntry */
        TimelineEntry: {
            /** Format: date-time */
            at: string;
            attempt: number | null;
            by: string | null;
            carried: string[];
            duration_ms: number | null;
            error: components["schemas"]["StepFailure"] | null;
            failed: {
                [key: string]: components["schemas"]["StepFailure"];
            };
            finished: boolean;
            kind: string;
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
            wait_until: {
                [key: string]: string | null;
            };
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
            form: string;
            id: string;
            /** Format: date-time */
            inserted_at: string;
            labels: {
                [key: string]: string;
            };
            name: string;
            status: string;
            task_count: number;
            title?: string | null;
            trigger: string;
            /** Format: date-time */
            updated_at: string;
            version?: number | null;
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
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
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
    listExecutions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
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
                 * @description Only the child runs of this run.
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
                 * @description Only runs that began at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs that began before this instant.
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
                 * @description Only runs started by this: api, cron, webhook, event, manual, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
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
                    "application/json": components["schemas"]["RunSummaryPage"];
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
        requestBody?: never;
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
                        hero?: string;
                        label?: string | string[];
                        origin?: string;
                        parent?: string;
                        request_id?: string;
                        started_after?: string;
                        started_before?: string;
                        status?: string | string[];
                        trigger?: string;
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
    listRuns: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. It belongs to this list, filter and order. */
                cursor?: string;
                /**
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
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
                 * @description Only the child runs of this run.
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
                 * @description Only runs that began at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs that began before this instant.
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
                 * @description Only runs started by this: api, cron, webhook, event, manual, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
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
                    "application/json": components["schemas"]["RunSummaryPage"];
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
        requestBody?: never;
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
                        hero?: string;
                        label?: string | string[];
                        origin?: string;
                        parent?: string;
                        request_id?: string;
                        started_after?: string;
                        started_before?: string;
                        status?: string | string[];
                        trigger?: string;
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
                    name: string;
                    tasks: Record<string, unknown>;
                };
                "application/yaml": {
                    name: string;
                    tasks: Record<string, unknown>;
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
                 * @description A version; the current one by default.
                 * @example 2
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
                    name: string;
                    tasks: Record<string, unknown>;
                };
                "application/yaml": {
                    name: string;
                    tasks: Record<string, unknown>;
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
            query?: never;
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
                 * @example 2
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
            /** @description The request id is known: this is the run it started. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionStartedAnswer"];
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
    publishWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Make the version current and the workflow active; true by default.
                 * @example true
                 */
                autoActivate?: boolean;
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
                 * @description Only runs about this, `type:id`.
                 * @example order:123
                 */
                hero?: string;
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
                 * @description Only the child runs of this run.
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
                 * @description Only runs that began at this instant or later.
                 * @example 2026-02-22T00:00:00Z
                 */
                started_after?: string;
                /**
                 * @description Only runs that began before this instant.
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
                 * @description Only runs started by this: api, cron, webhook, event, manual, or a trigger's id.
                 * @example cron
                 */
                trigger?: string;
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
                    "application/json": components["schemas"]["RunSummaryPage"];
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
        requestBody?: never;
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
    triggerWorkflow: {
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
                 * @description When it begins: an instant, or a time from now. Until then it is pending.
                 * @example 10m
                 */
                start_at?: string;
                /**
                 * @description The version to run, a number; `draft` runs the draft. The current one by default.
                 * @example 2
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
            /** @description The request id is known: this is the run it started. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedDocumentAnswer"];
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
                 * @example 2
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
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The number of a version.
                 * @example 2
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
