import { commands, Disposable, env } from "vscode";
import { agentArgument } from "../commands/arguments.ts";
import type { Feature } from "../feature.ts";
import {
  maxEntriesPerQuery,
  tracesContract,
  type Filter,
  type TracesContract,
} from "../webviews/traces/messages.ts";
import type { PageChannel } from "./page-channel.ts";
import { Focus } from "./focus.ts";
import { given } from "./given.ts";
import { commonAnswers } from "./common-state.ts";
import { shownEntry, TraceBatches } from "./trace-batches.ts";
import { registerView } from "./webview-host.ts";

/**
 * The list of traces in the panel, and `lares.showTraces`, which opens it (with an agent's id, filtered by that agent).
 */
export const traces: Feature = (context) => {
  const { kernel } = context;
  let channel: PageChannel<TracesContract> | undefined;
  let subscription: string | undefined;
  let wanted: Filter | undefined;
  const focus = new Focus(() => channel?.push("focus", {}));
  const batches = new TraceBatches((batch) => channel?.push("entries", batch));

  const unfollow = async (): Promise<void> => {
    wanted = undefined;
    batches.clear();
    const old = subscription;
    subscription = undefined;
    // A kernel that has ended has dropped its subscriptions.
    if (old !== undefined && kernel.state.kind === "running")
      await kernel.request("lares/traces/unfollow", { subscription: old });
  };
  const follow = async (filter: Filter): Promise<void> => {
    await unfollow();
    wanted = filter;
    const followed = await kernel.request("lares/traces/follow", given(filter));
    if (wanted === filter) subscription = followed.subscription;
    else await kernel.request("lares/traces/unfollow", followed);
  };

  const view = registerView(context, {
    id: "lares.traces",
    name: "traces",
    title: "Lares Traces",
    contract: tracesContract,
    answers: {
      ...commonAnswers(context),
      focus: async () => focus.take(),
      query: async (query) => {
        const found = await kernel.request("lares/traces/query", {
          ...given(query),
          limit: maxEntriesPerQuery,
        });
        return found.map(shownEntry);
      },
      follow: async (filter) => {
        await follow(filter);
        return {};
      },
      unfollow: async () => {
        await unfollow();
        return {};
      },
      copy: async ({ text }) => {
        await env.clipboard.writeText(text);
        return {};
      },
    },
    whileSeen: (seen) => {
      channel = seen.channel;
      const listening = kernel.on("lares/traces/entry", (notified) => {
        if (notified.subscription === subscription) batches.add(notified.entry);
      });
      return Disposable.from(listening, {
        dispose: () => {
          channel = undefined;
          // The view is closed, and an error changes nothing about that.
          unfollow().catch(() => undefined);
        },
      });
    },
  });
  const show = commands.registerCommand("lares.showTraces", async (agent?: unknown) => {
    const id = agentArgument(agent);
    await commands.executeCommand("lares.traces.focus");
    if (id !== undefined) focus.set(id);
  });
  return Disposable.from(view, show, { dispose: () => batches.clear() });
};
