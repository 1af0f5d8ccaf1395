import type { components } from "./schema.js";

/** An error as Detent writes it. */
export type Refusal = components["schemas"]["Refusal"];
/** What a draft would do to recorded runs. */
type Rehearsal = components["schemas"]["RehearsalDocument"];
/** The state in place of the one that was read. */
type StaleRule = components["schemas"]["StaleRuleDocument"];
/** Where something is wrong, and what. */
export type FieldProblem = components["schemas"]["FieldProblem"];

/** Detent refused a request, or could not be asked. Its subclasses say why. */
export class DetentError extends Error {
  /** The status of the answer; 0 if there was none. */
  readonly status: number;
  /** The exact reason, such as `WFENG002`. */
  readonly code: string;
  /** Which fields are wrong, if any. */
  readonly problems: readonly FieldProblem[];
  /** After how many seconds it may be tried again, if the server said so. */
  readonly retryAfter: number | undefined;

  constructor(message: string, facts: Facts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.status = facts.status ?? 0;
    this.code = facts.code ?? "";
    this.problems = facts.problems ?? [];
    this.retryAfter = facts.retryAfter;
  }
}

/** What an error is made from. */
export interface Facts {
  status?: number;
  code?: string;
  problems?: readonly FieldProblem[];
  retryAfter?: number | undefined;
  rehearsal?: Rehearsal | undefined;
  current?: StaleRule | undefined;
  cause?: unknown;
}

/** The request is not right; `problems` says where. */
export class InvalidArgument extends DetentError {}
/** The request has no valid key: set the option `key` or DETENT_KEY; `detent keys create` makes one. */
export class Unauthenticated extends DetentError {}
/** The caller may not do this, or not from there. */
export class PermissionDenied extends DetentError {}
/** Not found. */
export class NotFound extends DetentError {}
/** The current state does not allow this. */
export class Conflict extends DetentError {}
/** A strict publish was refused: a run would fail, or a run in flight could not be moved. */
export class RehearsalFailed extends Conflict {
  /** What the draft would do. */
  readonly rehearsal: Rehearsal | undefined;

  constructor(message: string, facts: Facts = {}) {
    super(message, facts);
    this.rehearsal = facts.rehearsal;
  }
}
/** Its time is over. */
export class Gone extends DetentError {}
/** It was changed since it was read. */
export class PreconditionFailed extends DetentError {
  /** Who changed a rule, when, and what differs; undefined for anything else. */
  readonly current: StaleRule | undefined;

  constructor(message: string, facts: Facts = {}) {
    super(message, facts);
    this.current = facts.current;
  }
}
/** The body is larger than its limit. */
export class TooLarge extends DetentError {}
/** Too many requests. */
export class LimitExceeded extends DetentError {}
/** Not now: the server is starting, stopping or cut off from its database. */
export class Unavailable extends DetentError {}
/** There was no answer: the server cannot be reached, or took too long. What was asked may have happened. */
export class ConnectionFailed extends DetentError {}

const KINDS: Readonly<Record<number, typeof DetentError>> = {
  400: InvalidArgument,
  401: Unauthenticated,
  403: PermissionDenied,
  404: NotFound,
  409: Conflict,
  410: Gone,
  412: PreconditionFailed,
  413: TooLarge,
  429: LimitExceeded,
  503: Unavailable,
};

/** The error that an answer tells of. */
export async function refusalOf(response: Response): Promise<DetentError> {
  const text = await response.text().catch(() => "");
  const refusal = read(text);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const Kind = refusal?.code === "rehearsal_failed" ? RehearsalFailed : (KINDS[response.status] ?? DetentError);
  return new Kind(refusal?.message ?? `the server answered ${response.status}`, {
    status: response.status,
    code: refusal?.code ?? "",
    problems: refusal?.details?.validation_errors ?? [],
    rehearsal: refusal?.details?.rehearsal ?? undefined,
    current: refusal?.details?.current ?? undefined,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  });
}

function read(text: string): Refusal | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && "message" in found ? (found as Refusal) : undefined;
  } catch {
    return undefined;
  }
}
