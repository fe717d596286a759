import { isLaresError, LaresError } from "../base/errors.ts";
import { locateModule } from "../platform/children/child-process.ts";
import { DeadlineHelper } from "../platform/children/deadline-helper.ts";
import { siblingModule } from "../platform/files/sibling-module.ts";
import { plainSchema } from "./plain-schema.ts";

export interface ArgumentRequest {
  /** JSON text, which is also the cache key of the compiled schema. */
  readonly schema: string;
  readonly args: unknown;
  /** `args` is a list whose items are validated, each by itself. */
  readonly each?: true;
}

export type ArgumentVerdict =
  | { readonly kind: "fits" }
  | {
      readonly kind: "unfit";
      readonly path: string;
      /** With `each`: which of the items. */
      readonly index?: number;
      /** What the value must be, as the end of a sentence without its full stop. */
      readonly message: string;
      /** The validator's own facts about it; absent if they are long. */
      readonly params?: object;
    }
  | { readonly kind: "bad schema"; readonly message: string };

/** `slow`: the check took too long, perhaps too often to be tried again. */
type ValueVerdict = ArgumentVerdict | { readonly kind: "slow"; readonly message: string };

interface ArgumentBounds {
  /** CPU time for compiling a schema and validating arguments. Milliseconds. */
  readonly deadlineMs: number;
  readonly maxHeapMb: number;
  /** The number of overruns of one caller with one tool after which the tool is not checked for it any more. */
  readonly maxOverruns: number;
}

/** CPU time far beyond what an ordinary schema takes. Other callers wait for at most one such check. */
export const argumentBounds: ArgumentBounds = { deadlineMs: 1000, maxHeapMb: 128, maxOverruns: 3 };

const fits: ValueVerdict = { kind: "fits" };
/** The number of values that are checked together in the kernel's own thread. */
const maxPlainValues = 50;

/** The number of callers and tools whose overruns are remembered. */
const maxRemembered = 512;

/**
 * Validates arguments against schemas in a separate process, because both are untrusted: a small schema can require
 * more comparisons than there is time or memory for. A caller has one check at a time, so its requests delay
 * another caller by at most one deadline. Only what fits a plain schema in a few steps is accepted here already, because
 * asking another process takes longer than most calls.
 */
export class ArgumentChecker implements AsyncDisposable {
  readonly #bounds: ArgumentBounds;
  readonly #helper: DeadlineHelper<ArgumentRequest, ArgumentVerdict>;
  /** The last check of each caller that has one. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #overruns = new Map<string, number>();
  readonly #plain = new WeakMap<object, ReturnType<typeof plainSchema>>();

  constructor(bounds: ArgumentBounds = argumentBounds) {
    this.#bounds = bounds;
    this.#helper = new DeadlineHelper({
      entry: siblingModule(import.meta.url, "argument-process"),
      readable: [new URL("../", import.meta.url), ...packageFolders()],
      task: "The check",
      deadlineMs: bounds.deadlineMs,
      maxHeapMb: bounds.maxHeapMb,
    });
  }

  /** Throws ToolError if the arguments do not match, or if the schema is invalid or cannot be checked in time. */
  async check(
    caller: string,
    tool: string,
    parameters: Record<string, unknown>,
    args: unknown,
  ): Promise<void> {
    const verdict = await this.verdictOf(caller, tool, parameters, args);
    switch (verdict.kind) {
      case "fits":
        return;
      case "slow":
        throw new LaresError(
          "ToolError",
          `${tool}: its parameters schema takes too long to check. ${verdict.message}`,
        );
      case "bad schema":
        throw new LaresError(
          "ToolError",
          `The parameters of ${tool} are not a valid JSON Schema: ${verdict.message}`,
        );
      case "unfit": {
        const { kind: _, ...fault } = verdict;
        const where = fault.path === "" ? "the arguments" : fault.path;
        throw new LaresError("ToolError", `${tool}: ${where} ${fault.message}.`, { errors: [fault] });
      }
    }
  }

  /** Checks any value. `what` is whose schema it is, of which the caller's overruns are remembered. */
  verdictOf(
    caller: string,
    what: string,
    schema: Record<string, unknown>,
    value: unknown,
  ): Promise<ValueVerdict> {
    if (this.#fitsPlainly(schema, [value])) return Promise.resolve(fits);
    const request = { schema: JSON.stringify(schema), args: value };
    return this.#inTurn(caller, () => this.#verdict(caller, what, request));
  }

  /** Checks several values with one deadline; the verdict is about the first that does not fit. */
  verdictOfAll(
    caller: string,
    what: string,
    schema: Record<string, unknown>,
    values: readonly unknown[],
  ): Promise<ValueVerdict> {
    if (this.#fitsPlainly(schema, values)) return Promise.resolve(fits);
    const request = { schema: JSON.stringify(schema), args: values, each: true as const };
    return this.#inTurn(caller, () => this.#verdict(caller, what, request));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#helper[Symbol.asyncDispose]();
  }

  #fitsPlainly(schema: object, values: readonly unknown[]): boolean {
    let check = this.#plain.get(schema);
    if (check === undefined) {
      check = plainSchema(schema);
      this.#plain.set(schema, check);
    }
    return check !== null && values.length <= maxPlainValues && check(...values);
  }

  async #verdict(caller: string, what: string, request: ArgumentRequest): Promise<ValueVerdict> {
    const key = `${caller}\n${what}\n${request.schema}`;
    const overruns = this.#overruns.get(key) ?? 0;
    if (overruns >= this.#bounds.maxOverruns)
      return { kind: "slow", message: `It took too long ${overruns} times and is not checked again.` };
    try {
      return await this.#helper.run(request);
    } catch (error) {
      if (!isLaresError(error, "LimitExceeded")) throw error;
      const oldest = this.#overruns.keys().next();
      if (this.#overruns.size >= maxRemembered && oldest.done !== true) this.#overruns.delete(oldest.value);
      this.#overruns.set(key, overruns + 1);
      return { kind: "slow", message: error.message };
    }
  }

  #inTurn<Result>(caller: string, run: () => Promise<Result>): Promise<Result> {
    const result = (this.#turns.get(caller) ?? Promise.resolve()).then(run);
    const ended = result
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(caller) === ended) this.#turns.delete(caller);
      });
    this.#turns.set(caller, ended);
    return result;
  }
}

/** Folders that the process may read besides the kernel's modules: its packages, which a bundle includes. */
function packageFolders(): string[] {
  if (!import.meta.url.endsWith(".ts")) return [];
  const ajv = locateModule("ajv", import.meta.url);
  const ofAjv = ["fast-deep-equal", "fast-uri", "json-schema-traverse"];
  return [
    ajv.folder,
    ...["ajv-formats", "re2js"].map((name) => locateModule(name, import.meta.url).folder),
    ...ofAjv.map((name) => locateModule(name, ajv.url).folder),
  ];
}
