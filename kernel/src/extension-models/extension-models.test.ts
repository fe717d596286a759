import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { LaresError } from "../base/errors.ts";
import type { DeclaredModel } from "../base/vocabulary/declared-model.ts";
import type { TensorAnswer } from "../inference/client/tensor-models.ts";
import { systemClock } from "../platform/clock.ts";
import type { WorkProgress } from "../services/ports.ts";
import { ExtensionModels } from "./extension-models.ts";
import type { FetchOptions, ModelState, ModelStore } from "./model-store.ts";

const faces: DeclaredModel = {
  name: "faces",
  source: { url: "https://models.example.com/faces.onnx" },
  sha256: `sha256:${"a".repeat(64)}`,
  size_mb: 10,
};

interface Options {
  readonly models?: readonly DeclaredModel[];
  readonly fetch?: (options: FetchOptions) => Promise<void>;
  readonly state?: () => ModelState["state"];
  readonly answer?: TensorAnswer;
}

function bed({ models = [faces], fetch, state = () => "missing", answer = { outputs: [] } }: Options = {}) {
  const heard: WorkProgress[] = [];
  const traces: string[] = [];
  const removed: string[] = [];
  let fetches = 0;
  let nowMs = 0;
  const store = {
    stateOf: async () => ({ state: state(), bytes: 0 }),
    fetch: async (_source: unknown, options: FetchOptions) => {
      fetches++;
      await fetch?.(options);
      return { path: "/cache/faces.onnx", fetched: true };
    },
    remove: async (sha256: string) => void removed.push(sha256),
  };
  const extensionModels = new ExtensionModels({
    store: store as unknown as ModelStore,
    client: { infer: async () => answer },
    clock: { ...systemClock, monotonic: () => nowMs },
    modelsOf: () => models,
    progress: (news) => heard.push(news),
    trace: (level, agent, message) => traces.push(`${level} ${agent}: ${message}`),
  });
  const run = (model = "faces", signal = neverAborted) =>
    extensionModels.infer({ agent: "dev.photos", model, inputs: [], signal });
  return {
    run,
    heard,
    traces,
    removed,
    fetches: () => fetches,
    pass: (ms: number) => (nowMs += ms),
  };
}

test("clients and traces receive the progress of a download and its end", async () => {
  const mebibyte = 1024 * 1024;
  const { run, heard, traces } = bed({
    fetch: async ({ received }) => {
      for (let at = 1; at <= 100; at++) received?.((at * mebibyte) / 20);
    },
  });
  await run();
  expect(heard[0]).toMatchObject({ kind: "begin", title: 'Lares: fetching the model "faces" (dev.photos)' });
  expect(heard.at(-1)).toMatchObject({ kind: "end", message: "done" });
  expect(heard.length).toBeLessThan(15);
  expect(heard).toContainEqual(expect.objectContaining({ kind: "report", percentage: 50 }));
  expect(traces).toEqual([
    'info dev.photos: Fetching the model "faces", at most 10 MiB.',
    'info dev.photos: The model "faces" was fetched.',
  ]);
});

test("calls that wait for one download report it once", async () => {
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  const { run, heard } = bed({
    fetch: async ({ received }) => {
      if (++waiting === 2) both.resolve();
      await both.promise;
      received?.(1);
    },
  });
  await Promise.all([run(), run()]);
  expect(heard.map(({ kind }) => kind)).toEqual(["begin", "end"]);
});

test("a model that was fetched before is not reported", async () => {
  const { run, heard, traces } = bed();
  expect(await run()).toEqual([]);
  expect([heard, traces]).toEqual([[], []]);
});

test("a download that failed is not begun again at once, unless a person brought the model meanwhile", async () => {
  let isThere = false;
  const { run, fetches, pass, traces } = bed({
    fetch: async () => {
      if (!isThere) throw new LaresError("NetworkError", "The model could not be fetched.");
    },
    state: () => (isThere ? "fetched" : "partial"),
  });
  const failed = { code: "ModelError", facts: { class: "Network", retryable: true } };
  await expect(run()).rejects.toMatchObject({
    ...failed,
    message: expect.stringContaining("lares models fetch dev.photos/faces") as string,
  });
  await expect(run()).rejects.toMatchObject(failed);
  expect([fetches(), traces.length]).toEqual([1, 1]);
  pass(61_000);
  await expect(run()).rejects.toMatchObject(failed);
  expect(fetches()).toBe(2);
  isThere = true;
  expect(await run()).toEqual([]);
});

test("a call that is cancelled during the download does not count as a failed download", async () => {
  const aborter = new AbortController();
  const { run, fetches } = bed({
    fetch: async () => {
      if (fetches() > 1) return;
      aborter.abort(new Error("enough"));
      throw new Error("enough");
    },
  });
  await expect(run("faces", aborter.signal)).rejects.toThrow("enough");
  expect(await run()).toEqual([]);
});

test("a model that the manifest only names, or does not name, is not asked for", async () => {
  const { run, fetches } = bed({ models: [{ name: "old" }, { ...faces, size_mb: 5000 }] });
  await expect(run("old")).rejects.toMatchObject({ facts: { class: "NoModel" } });
  await expect(run("faces")).rejects.toMatchObject({ facts: { class: "NoModel" } });
  await expect(run("other")).rejects.toMatchObject({ facts: { class: "UnknownModel" } });
  expect(fetches()).toBe(0);
});

test("a failed run has a class, and a damaged file is removed", async () => {
  const classes = {
    Unusable: ["NoModel", false],
    Refused: ["InvalidRequest", false],
    Memory: ["InvalidRequest", false],
    Damaged: ["Overloaded", true],
    Died: ["Overloaded", true],
    Busy: ["Overloaded", true],
    Timeout: ["Timeout", true],
  } as const;
  for (const [kind, [expected, retryable]] of Object.entries(classes)) {
    const { run, removed } = bed({
      answer: { failure: { class: kind as keyof typeof classes, message: "why" } },
    });
    await expect(run(), kind).rejects.toMatchObject({
      code: "ModelError",
      message: expect.stringContaining("why") as string,
      facts: { class: expected, retryable, model: "dev.photos/faces" },
    });
    expect(removed, kind).toEqual(kind === "Damaged" ? ["a".repeat(64)] : []);
  }
});
