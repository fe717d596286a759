import { Disposable, env, Range, Uri, window, type ViewColumn } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import { label } from "../model/text.ts";
import { exists, fileInWorkspace } from "../model/uris.ts";
import { maxEntriesPerQuery, type Filter, type TracesContract } from "../webviews/traces/messages.ts";
import { commonAnswers } from "./common-state.ts";
import { Focus } from "./focus.ts";
import { given } from "./given.ts";
import type { Answers, PageChannel } from "./page-channel.ts";
import { shownEntry, TraceBatches } from "./trace-batches.ts";

/** One page of traces: what it follows, and the answers to its requests. */
export class TracePage implements Disposable {
  readonly focus = new Focus(() => this.#channel?.push("focus", {}));
  readonly answers: Answers<TracesContract>;
  readonly #kernel: ClientContext["kernel"];
  readonly #batches = new TraceBatches((batch) => this.#channel?.push("entries", batch));
  #channel: PageChannel<TracesContract> | undefined;
  #subscription: string | undefined;
  #wanted: Filter | undefined;

  /** `columnFor`: where a file is opened at a line; by default in the active column. */
  constructor(context: ClientContext, columnFor: (uri: Uri) => ViewColumn | undefined = () => undefined) {
    const { kernel } = context;
    this.#kernel = kernel;
    this.answers = {
      ...commonAnswers(context),
      focus: async () => this.focus.take(),
      query: async (query) => {
        const found = await kernel.request("lares/traces/query", {
          ...given(query),
          limit: maxEntriesPerQuery,
        });
        return found.map(shownEntry);
      },
      follow: async (filter) => {
        await this.#follow(filter);
        return {};
      },
      unfollow: async () => {
        await this.#unfollow();
        return {};
      },
      copy: async ({ text }) => {
        await env.clipboard.writeText(text);
        return {};
      },
      openPlace: async ({ path, line }) => {
        await reporting("The line cannot be shown", () => openPlace(path, line, columnFor));
        return {};
      },
    };
  }

  /** Passes traces to the page until the result is disposed. */
  show(channel: PageChannel<TracesContract>): Disposable {
    this.#channel = channel;
    const listening = this.#kernel.on("lares/traces/entry", ({ subscription, entry }) => {
      if (subscription === this.#subscription) this.#batches.add(entry);
    });
    return Disposable.from(listening, {
      dispose: () => {
        this.#channel = undefined;
        // The view is closed, and an error changes nothing about that.
        this.#unfollow().catch(() => undefined);
      },
    });
  }

  async #unfollow(): Promise<void> {
    this.#wanted = undefined;
    this.#batches.clear();
    const old = this.#subscription;
    this.#subscription = undefined;
    // A kernel that has ended has dropped its subscriptions.
    if (old !== undefined && this.#kernel.state.kind === "running")
      await this.#kernel.request("lares/traces/unfollow", { subscription: old });
  }

  async #follow(filter: Filter): Promise<void> {
    await this.#unfollow();
    this.#wanted = filter;
    const followed = await this.#kernel.request("lares/traces/follow", given(filter));
    if (this.#wanted === filter) this.#subscription = followed.subscription;
    else await this.#kernel.request("lares/traces/unfollow", followed);
  }

  dispose(): void {
    this.#batches.clear();
  }
}

/** Shows a line of a program. The path may be an agent's own words, so only files of the workspace are opened. */
async function openPlace(
  path: string,
  line: number,
  columnFor: (uri: Uri) => ViewColumn | undefined,
): Promise<void> {
  const uri = fileInWorkspace(path);
  if (uri === undefined) throw new Error(`${label(path, 200)} is not in this workspace.`);
  if (!(await exists(uri))) throw new Error(`${label(path, 200)} is not there any more.`);
  const viewColumn = columnFor(uri);
  await window.showTextDocument(uri, {
    selection: new Range(line - 1, 0, line - 1, 0),
    ...(viewColumn === undefined ? {} : { viewColumn }),
  });
}
