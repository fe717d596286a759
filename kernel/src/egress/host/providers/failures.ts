import { messageOf } from "../../../base/errors.ts";
import type { ModelFailure, ModelFailureClass } from "../../../base/vocabulary/model.ts";
import type { ProviderSettings } from "../../../base/vocabulary/model-settings.ts";
import { Denied, Stopped } from "../../failures.ts";
import { answerBounds as bounds } from "./bounds.ts";

/** The provider and model whose failure is described. */
export interface FailureContext {
  readonly provider: string;
  /** As the provider names it. */
  readonly model: string;
  /** Never repeated in a message. */
  readonly key: string | null;
  /** The name of the stored secret that holds the key; absent if the key comes from elsewhere. */
  readonly secret?: string;
  /** The host that the key is sent to. */
  readonly host?: string;
}

/** Returns the context of requests for one model; for the list of models, `model` is empty. */
export function contextFor(
  { id, baseUrl = "", secret }: ProviderSettings,
  model: string,
  key: string | null,
): FailureContext {
  const host = URL.parse(baseUrl)?.host ?? "";
  return {
    provider: id,
    model,
    key,
    ...(secret === undefined ? {} : { secret }),
    ...(host === "" ? {} : { host }),
  };
}

/** An error whose failure is known already. */
export class ModelFault extends Error {
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** What a provider reported about an error. */
interface ProviderReport {
  readonly status: number | null;
  /** Machine-readable types, codes and states, in lower case. */
  readonly codes: readonly string[];
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** The maximum length of a quotation from a provider. Characters. */
const maxQuoted = 300;
/** The part of a message that is searched for known words. Characters. */
const maxSearched = 4096;
const maxRetryAfterMs = 24 * 60 * 60_000;
const maxDepth = 4;

const statusOfCode: Readonly<Record<string, number>> = {
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  insufficient_quota: 429,
  overloaded_error: 529,
  api_error: 500,
  server_error: 500,
  internal_error: 500,
  internal: 500,
  unavailable: 503,
  deadline_exceeded: 504,
  timeout_error: 504,
  authentication_error: 401,
  invalid_api_key: 401,
  unauthenticated: 401,
  billing_error: 402,
  invalid_request_error: 400,
  invalid_argument: 400,
  failed_precondition: 400,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  not_found: 404,
};
const overflowCodes = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "model_context_window_exceeded",
  "exceed_context_size_error",
  "request_too_large",
  "string_above_max_length",
]);
const filterCodes = new Set([
  "content_filter",
  "content_policy_violation",
  "content_filter_error",
  "responsibleaipolicyviolation",
  "invalid_prompt",
  "prohibited_content",
  "safety",
]);
const overflowWords = [
  /prompt is too long/,
  /input is too long/,
  /input token count.{0,60}exceeds/,
  /maximum (?:context|prompt|input) (?:length|size)/,
  /exceeds? (?:the |this )?(?:model'?s? )?(?:maximum |available |configured )?context (?:length|window|size|limit)/,
  /(?:larger|longer|greater) than (?:the )?(?:model'?s? )?(?:maximum |available )?context/,
  /context (?:length|window|size|limit) (?:was |is |has been )?exceeded/,
];
const filterWords = /content (?:management )?(?:policy|filter)|flagged as potentially violating/;
const keyWords = /api[ _]key (?:not valid|expired|not found)|incorrect api key|invalid (?:x-)?api[ -]key/;
const modelWords =
  /model.{0,200}(?:not found|does not exist|is not supported for|not_found)|no such model|unknown model/;

/** Returns the failure for an answer whose status or content says that there was an error. */
export function failureOfResponse(
  response: { readonly status: number; readonly headers: Headers; readonly body: string },
  context: FailureContext,
  now: number,
): ModelFailure {
  const said = reportOf(parsed(response.body));
  // The status of an error inside an answer that claims success is only in its body.
  const status = response.status < 300 ? said.status : response.status;
  const retryAfterMs = retryAfterOf(response.headers, now) ?? said.retryAfterMs;
  return failureOf({ ...said, status, retryAfterMs }, context);
}

/** Returns the failure for an error that a provider reported within its answer, in any of their forms. */
export function failureOfEvent(event: unknown, context: FailureContext): ModelFailure {
  // The request was accepted, so what failed after that is the server, unless it says otherwise.
  return failureOf(reportOf(event), context, 500);
}

/**
 * Returns the failure for an error of an SDK in the middle of an answer: what the provider reported, or a piece of the
 * answer that cannot be read.
 */
export function failureOfSdk(error: unknown, context: FailureContext): ModelFailure {
  if (!(error instanceof Error)) return failureOfEvent(error, context);
  switch (error.name) {
    case "AI_JSONParseError":
    case "AI_TypeValidationError": {
      const report = reportOf((error as { readonly value?: unknown }).value);
      if (report.status !== null || report.codes.some((code) => Object.hasOwn(statusOfCode, code)))
        return failureOf(report, context);
      return {
        class: "Network",
        message: `The provider "${context.provider}" sent a piece of an answer that cannot be read.`,
      };
    }
    case "AI_APICallError": {
      const {
        statusCode = null,
        responseBody,
        data,
      } = error as {
        readonly statusCode?: number | null;
        readonly responseBody?: string;
        readonly data?: unknown;
      };
      const report = reportOf(data ?? responseBody);
      if (report.codes.length === 0 && report.message === "") return failureOfThrown(error, context);
      return failureOf({ ...report, status: report.status ?? errorStatus(statusCode) }, context);
    }
    default:
      return failureOfThrown(error, context);
  }
}

function errorStatus(status: number | null): number | null {
  return status !== null && status >= 300 ? status : null;
}

/** Returns the failure for whatever was thrown while a request was sent or its answer was read. */
export function failureOfThrown(error: unknown, context: FailureContext): ModelFailure {
  for (const each of causesOf(error)) {
    if (each instanceof ModelFault) return each.failure;
    if (each instanceof Stopped) return { class: each.class, message: each.message };
    if (each instanceof Denied)
      return {
        class: "InvalidRequest",
        message: `The request was not sent: ${quoted(each.message, context)}`,
      };
    if (each instanceof Error && each.name === "TimeoutError")
      return { class: "Timeout", message: `The provider "${context.provider}" did not answer in time.` };
  }
  const reasons = causesOf(error).map((each) => messageOf(each));
  return {
    class: "Network",
    message: `The connection to the provider "${context.provider}" failed: ${quoted(reasons.at(-1) ?? "", context)}`,
  };
}

const cancelled: ModelFailure = { class: "Cancelled", message: "The request was cancelled." };

/** Returns why the signal was aborted. */
export function failureOfAbort(signal: AbortSignal, context: FailureContext): ModelFailure {
  const reason: unknown = signal.reason;
  const isTimeout =
    (reason instanceof Stopped && reason.class === "Timeout") ||
    (reason instanceof Error && reason.name === "TimeoutError");
  return isTimeout ? { ...failureOfThrown(reason, context), class: "Timeout" } : cancelled;
}

export function endedEarly({ provider }: FailureContext): ModelFailure {
  return {
    class: "Network",
    message: `The connection to the provider "${provider}" ended before the answer did.`,
  };
}

/** Returns the failure for a model that wants to continue its answer in another request. */
export function continued({ provider }: FailureContext): ModelFailure {
  return {
    class: "InvalidRequest",
    message: `The provider "${provider}" wants a second request for the rest of its answer. Ask for a shorter one.`,
  };
}

/** Returns the failure for the page of a network's log-in, or of a server that is not a provider. */
export function webPage({ provider }: FailureContext): ModelFailure {
  return {
    class: "InvalidRequest",
    message: `The provider "${provider}" answered with a web page. Check its base_url, and whether this network wants you to log in.`,
  };
}

export function tooLong({ provider }: FailureContext): ModelFailure {
  return {
    class: "InvalidRequest",
    message: `The provider "${provider}" sent an answer that is too large (the limit is ${bounds.maxChars / 1024 / 1024} MiB of text). The rest was not read.`,
  };
}

/**
 * Returns what the provider asked to wait, in milliseconds; null if it asked for nothing. `retry-after` has seconds or
 * a date; `retry-after-ms` is more exact.
 */
function retryAfterOf(headers: Headers, now: number): number | null {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.min(Math.ceil(exact), maxRetryAfterMs);
  const value = headers.get("retry-after")?.trim() ?? "";
  if (value === "") return null;
  const ms = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), maxRetryAfterMs) : null;
}

/** `assumedStatus`: used for an error without a status. */
function failureOf(report: ProviderReport, context: FailureContext, assumedStatus = 400): ModelFailure {
  const failureClass = classOf(report, assumedStatus);
  const said = quoted(report.message, context);
  const sentence = sentenceOf(failureClass, report, context);
  return {
    class: failureClass,
    message: said === "" ? sentence : `${sentence} It says: "${said}"`,
    ...(report.retryAfterMs === null ? {} : { retry_after_ms: report.retryAfterMs }),
  };
}

/** The order matters: providers use one status for several reasons, and are exact only in codes or words. */
function classOf(report: ProviderReport, assumedStatus: number): ModelFailureClass {
  const { codes } = report;
  const words = report.message.slice(0, maxSearched).toLowerCase();
  const status =
    report.status ??
    codes.map((code) => statusOfCode[code]).find((known) => known !== undefined) ??
    assumedStatus;
  if (codes.some((code) => overflowCodes.has(code))) return "ContextOverflow";
  if (status === 429) return "RateLimited";
  if (status === 413 || overflowWords.some((pattern) => pattern.test(words))) return "ContextOverflow";
  if (codes.some((code) => filterCodes.has(code)) || filterWords.test(words)) return "Filtered";
  if (codes.includes("model_not_found")) return "UnknownModel";
  if (status === 401 || status === 402 || status === 403) return "Unauthorized";
  if (codes.includes("api_key_invalid") || codes.includes("invalid_api_key") || keyWords.test(words))
    return "Unauthorized";
  if (status === 404) return "UnknownModel";
  if (status === 408) return "Timeout";
  if (status >= 500) return "Overloaded";
  return modelWords.test(words) ? "UnknownModel" : "InvalidRequest";
}

function sentenceOf(
  failureClass: ModelFailureClass,
  { status }: ProviderReport,
  context: FailureContext,
): string {
  const { provider, model, key, host = "<host>" } = context;
  const from = `The provider "${provider}"`;
  const withStatus = status === null ? "" : ` (status ${status})`;
  switch (failureClass) {
    case "RateLimited":
      return `${from} accepts no more requests for now.`;
    case "Overloaded":
      return `${from} is overloaded or failing${withStatus}.`;
    case "ContextOverflow":
      return `The request is too long for the model "${model}" of the provider "${provider}".`;
    case "Unauthorized":
      if (key === null)
        return `${from} wants a key${withStatus}. Run "lares secrets set ${provider} --host ${host}", and write key: { secret: ${provider} } in your lares.yaml.`;
      return `${from} rejected the key${model === "" ? "" : `, or the key may not use "${model}"`}${withStatus}.${otherKey(status, context)}`;
    case "Filtered":
      return `The content filter of the provider "${provider}" refused the request.`;
    case "UnknownModel":
      if (model === "") return `${from} has no list of models here; its base_url may be wrong.`;
      return `${from} has no model "${model}", or its base_url is wrong.`;
    case "Timeout":
      return `${from} did not answer in time.`;
    case "InvalidRequest":
    case "Network":
    case "EmptyAnswer":
    case "Cancelled":
    case "NoModel":
    case "NoKey":
      return `${from} rejected the request${withStatus}.`;
  }
}

/** Returns how to store another key; nothing where the provider wants money for this one. */
function otherKey(status: number | null, { provider, secret, host = "<host>" }: FailureContext): string {
  if (status === 402) return "";
  const run = ` To store another key, run "lares secrets set ${secret ?? provider} --host ${host}"`;
  // A provider without a secret has its key from the environment, and looks for no stored one.
  return secret === undefined
    ? `${run}, and write key: { secret: ${provider} } in your lares.yaml.`
    : `${run}.`;
}

/** Returns the text in one line, shortened and without the key. The key is removed first, before it can be cut in half. */
function quoted(text: string, { key }: FailureContext): string {
  const safe = key === null || key === "" ? text : text.replaceAll(key, "[key]");
  const line = safe.replace(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
  return (line.length > maxQuoted ? `${line.slice(0, maxQuoted - 1)}…` : line).toWellFormed();
}

/** The error and what caused it, the outermost first. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each !== undefined && causes.length < 8;) {
    causes.push(each);
    each = each instanceof Error ? each.cause : undefined;
  }
  return causes;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Pages of proxies and servers.
    return /^\s*</.test(text) ? "" : text;
  }
}

/**
 * Collects what an error says. Known forms: `{ error: { type, code, message } }` (Anthropic, OpenAI), with `status` and
 * `details` (Google), `{ error: "…" }` (Ollama), `{ detail }`, arrays of these, and the errors of the SDKs around them.
 */
function reportOf(event: unknown): ProviderReport {
  let status: number | null = null;
  let message = "";
  let retryAfterMs: number | null = null;
  const codes: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (depth > maxDepth) return;
    if (typeof value === "string") {
      const inner = /^\s*[{[]/.test(value) ? parsed(value) : value;
      if (typeof inner === "string") message ||= inner;
      else collect(inner, depth + 1);
      return;
    }
    if (Array.isArray(value)) return value.slice(0, 8).forEach((each) => collect(each, depth + 1));
    if (typeof value !== "object" || value === null) return;
    const fields = value as Readonly<Record<string, unknown>>;
    // The innermost message is the provider's own.
    for (const name of ["responseBody", "data", "value", "response", "error", "details", "detail"])
      if (fields[name] !== undefined) collect(fields[name], depth + 1);
    for (const name of ["status", "statusCode", "code"]) {
      const number = fields[name];
      if (typeof number === "number" && number >= 300 && number < 600) status ??= number;
    }
    for (const name of ["type", "code", "status", "reason"]) {
      const code = fields[name];
      if (typeof code === "string") codes.push(code.toLowerCase());
    }
    const delay = fields["retryDelay"];
    const seconds = typeof delay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) retryAfterMs ??= Math.min(Math.ceil(Number(seconds) * 1000), maxRetryAfterMs);
    if (typeof fields["message"] === "string") message ||= fields["message"];
  };
  collect(event, 0);
  return { status, codes, message, retryAfterMs };
}
