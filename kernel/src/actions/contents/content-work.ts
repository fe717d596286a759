import type { CpuBudget } from "../../base/cpu-budget.ts";
import type { JsonValue } from "../../base/json.ts";
import { LaresError } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
import { WorkThread } from "../../platform/children/work-thread.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import type {
  ChangedContent,
  ChangeRequest,
  ContentRequest,
  ContentWorkerData,
  FolderListing,
  HashAnswer,
  HashedValue,
  HashRest,
  ListRequest,
} from "../content-requests.ts";
import { actionLimits } from "../limits.ts";
import type { ContentWork } from "../ports.ts";
import { hashedValue, isSmallValue } from "../values.ts";

/** Runs the work on contents in a thread, so that the kernel's event loop never waits for it. */
export function openContentWork(files: WorkspaceFiles): ContentWork {
  const workerData: ContentWorkerData = {
    roots: files.roots.map(({ name, files: { root: path } }) => ({ name, path })),
  };
  return new ContentQueue(
    new WorkThread({
      entry: siblingModule(import.meta.url, "content-worker"),
      workerData,
      name: "lares-contents",
      task: "Planning",
      maxCpuMs: actionLimits.workCpuMs,
      maxWallMs: actionLimits.workWallMs,
      maxHeapMb: actionLimits.workHeapMb,
    }),
  );
}

/** Runs one request: in a thread, except in tests. */
interface ContentRunner extends AsyncDisposable {
  run(request: ContentRequest, budget: CpuBudget): Promise<unknown>;
}

export class ContentQueue implements ContentWork {
  readonly #thread: ContentRunner;

  constructor(thread: ContentRunner) {
    this.#thread = thread;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }

  async change(request: Omit<ChangeRequest, "do">, budget: CpuBudget): Promise<ChangedContent> {
    return (await this.#thread.run({ do: "change", ...request }, budget)) as ChangedContent;
  }

  async hash(path: string, budget: CpuBudget): Promise<Hash | null> {
    for (let attempt = 0; attempt < hashAttempts; attempt++) {
      for (let rest: HashRest | null = null; ;) {
        const answer = (await this.#thread.run({ do: "hash", path, rest }, budget)) as HashAnswer;
        if ("hash" in answer) return answer.hash;
        if ("lost" in answer) break;
        ({ rest } = answer);
      }
    }
    throw new LaresError(
      "Busy",
      `${JSON.stringify(path)} could not be read without an interruption. Try again later.`,
    );
  }

  async value(value: JsonValue, budget: CpuBudget): Promise<HashedValue> {
    return isSmallValue(value)
      ? hashedValue(value)
      : ((await this.#thread.run({ do: "value", value }, budget)) as HashedValue);
  }

  async scripts(path: string, files: readonly string[], budget: CpuBudget): Promise<boolean> {
    return (await this.#thread.run({ do: "scripts", path, files }, budget)) as boolean;
  }

  async list(folder: string, move: ListRequest["move"], budget: CpuBudget): Promise<FolderListing> {
    return (await this.#thread.run({ do: "list", folder, move }, budget)) as FolderListing;
  }
}

/** How often a hash is started again because another request ended the thread. */
const hashAttempts = 3;
