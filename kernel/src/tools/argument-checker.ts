import { isLaresError, LaresError } from "../base/errors.ts";
import { locateModule } from "../platform/children/child-process.ts";
import { DeadlineHelper } from "../platform/children/deadline-helper.ts";
import { siblingModule } from "../platform/processes/sibling-module.ts";

export interface ArgumentRequest {
  /** As JSON: it is also the name under which it is kept compiled. */
  readonly schema: string;
  readonly args: unknown;
}

export type ArgumentVerdict =
  | { readonly kind: "fits" }
  | { readonly kind: "unfit"; readonly path: string; readonly message: string; readonly facts: string }
  | { readonly kind: "bad schema"; readonly message: string };

interface ArgumentBounds {
  /** CPU time for compiling a schema and holding arguments against it. Milliseconds. */
  readonly deadlineMs: number;
  readonly maxHeapMb: number;
  /** So many overruns of one caller with one tool, and the tool is not checked for it again. */
  readonly maxOverruns: number;
}

/** CPU time far beyond what an honest schema takes. Other callers wait for one such check at most. */
export const argumentBounds: ArgumentBounds = { deadlineMs: 1000, maxHeapMb: 128, maxOverruns: 3 };

/** Callers and tools whose overruns are remembered. */
const maxRemembered = 512;

/**
 * Holds arguments against schemas, in a process of its own: both are anybody's, and a small schema can describe more
 * comparisons than there is time or memory for. A caller has one check under way at a time, so that what it asks for holds
 * another one up by one deadline at most.
 */
export class ArgumentChecker implements AsyncDisposable {
  readonly #bounds: ArgumentBounds;
  readonly #helper: DeadlineHelper<ArgumentRequest, ArgumentVerdict>;
  /** The last check of each caller that has one. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #overruns = new Map<string, number>();

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

  /** Throws ToolError where the arguments do not fit, or where the schema is none or cannot be checked in time. */
  async check(
    caller: string,
    tool: string,
    parameters: Record<string, unknown>,
    args: unknown,
  ): Promise<void> {
    const schema = JSON.stringify(parameters);
    const verdict = await this.#inTurn(caller, () => this.#verdict(caller, tool, { schema, args }));
    if (verdict.kind === "fits") return;
    if (verdict.kind === "bad schema")
      throw new LaresError(
        "ToolError",
        `The parameters of ${tool} are no valid JSON Schema: ${verdict.message}`,
      );
    const { path, message, facts } = verdict;
    throw new LaresError(
      "ToolError",
      `${tool}: ${path === "" ? "the arguments" : path} ${message}${facts}.`,
      {
        errors: [{ path, message }],
      },
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#helper[Symbol.asyncDispose]();
  }

  async #verdict(caller: string, tool: string, request: ArgumentRequest): Promise<ArgumentVerdict> {
    const key = `${caller}\n${tool}\n${request.schema}`;
    const overruns = this.#overruns.get(key) ?? 0;
    if (overruns >= this.#bounds.maxOverruns)
      throw tooSlow(tool, `It did ${overruns} times, and is not checked again.`);
    try {
      return await this.#helper.run(request);
    } catch (error) {
      if (!isLaresError(error, "LimitExceeded")) throw error;
      const oldest = this.#overruns.keys().next();
      if (this.#overruns.size >= maxRemembered && oldest.done !== true) this.#overruns.delete(oldest.value);
      this.#overruns.set(key, overruns + 1);
      throw tooSlow(tool, error.message);
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

/** Folders that the process may read besides the kernel's modules: its packages and theirs. A bundle includes them. */
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

function tooSlow(tool: string, why: string): LaresError {
  return new LaresError("ToolError", `${tool}: its parameters schema takes too long to check. ${why}`);
}
