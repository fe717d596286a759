import { commands, Disposable } from "vscode";
import { agentArgument } from "../deciding/arguments.ts";
import { reporting } from "../deciding/explain.ts";
import type { Feature } from "../feature.ts";
import type { Kernel } from "../kernel/kernel.ts";
import {
  maxGraphItems,
  maxItems,
  maxShared,
  memoryContract,
  pageSize,
  type MemoryContract,
} from "../webviews/memory/messages.ts";
import type { Answers, PageChannel } from "./page-channel.ts";
import { Focus } from "./focus.ts";
import { given } from "./given.ts";
import { lookAgain } from "./look-again.ts";
import { chooseMemory, exportMemory, forget, importMemory, verifyAloud } from "./memory-commands.ts";
import {
  itemsIn,
  shownData,
  shownEvent,
  shownItem,
  shownShared,
  shownWitness,
  type EventResult,
  type ItemResult,
  type SearchResult,
  type WorkingResult,
} from "./memory-shapes.ts";
import { MemoryWatch, type Whose } from "./memory-watch.ts";
import { commonAnswers } from "./common-state.ts";
import { registerView } from "./webview-host.ts";

/** The sidebar's Memory view, and the commands about memories. Each takes an agent's id, or asks for the agent. */
export const memory: Feature = (context) => {
  const { kernel, models } = context;
  let channel: PageChannel<MemoryContract> | undefined;
  const watch = new MemoryWatch(kernel, () => channel?.push("changed", {}));
  const focus = new Focus(() => channel?.push("focus", {}));
  const view = registerView(context, {
    id: "lares.memory",
    name: "memory",
    title: "Lares Memory",
    contract: memoryContract,
    answers: {
      ...commonAnswers(context),
      focus: async () => focus.take(),
      ...questions(kernel),
      watch: async (whose) => {
        watch.watch(whose);
        return {};
      },
      exportMemory: async (whose) => ({ done: await exportMemory(kernel, whose) }),
      importMemory: async ({ agent }) => ({ done: await importMemory(kernel, agent) }),
      forget: async ({ agent, id, what }) => ({ done: await forget(kernel, agent, id, what) }),
    },
    whileSeen: (seen) => {
      channel = seen.channel;
      const looking = lookAgain([models.agents.onDidChange], () => void watch.look());
      return Disposable.from(looking, {
        dispose: () => {
          channel = undefined;
          watch.watch(undefined);
        },
      });
    },
  });
  const own = (): Promise<Whose | undefined> => chooseMemory(models.agents.all, []);
  const withShared = async (): Promise<Whose | undefined> =>
    chooseMemory(models.agents.all, (await kernel.request("lares/memory/namespaces", {})).namespaces);
  /** Registers a command about one memory. */
  const aboutOne = (
    command: string,
    choose: () => Promise<Whose | undefined>,
    act: (whose: Whose) => Promise<unknown>,
  ): Disposable =>
    commands.registerCommand(command, (argument?: unknown) =>
      reporting("The memories cannot be listed", async () => {
        const agent = agentArgument(argument);
        const whose = agent === undefined ? await choose() : { agent };
        if (whose !== undefined) await act(whose);
      }),
    );
  return Disposable.from(
    view,
    commands.registerCommand("lares.showMemory", async (argument?: unknown) => {
      const agent = agentArgument(argument);
      if (agent !== undefined) focus.set(agent);
      await commands.executeCommand("lares.memory.focus");
    }),
    aboutOne("lares.verifyMemory", withShared, (whose) => verifyAloud(kernel, whose)),
    aboutOne("lares.exportMemory", withShared, (whose) => exportMemory(kernel, whose)),
    aboutOne("lares.importMemory", own, ({ agent }) => importMemory(kernel, agent)),
  );
};

type Questions = Pick<
  Answers<MemoryContract>,
  "shared" | "timeline" | "histogram" | "knowledge" | "related" | "working" | "witness" | "verify"
>;

/** Returns the handlers of requests that only read from the kernel. */
function questions(kernel: Kernel): Questions {
  return {
    shared: async ({ agent }) => {
      const { namespaces } = await kernel.request("lares/memory/namespaces", { agent });
      return { shared: namespaces.slice(0, maxShared).map(shownShared) };
    },
    timeline: async ({ text, ...filter }) => {
      const found = (await kernel.request("lares/memory/query", {
        ...asWhose(filter),
        kind: "temporal",
        limit: pageSize,
        ...matching(text),
      })) as EventResult;
      return { items: found.items.map(shownEvent), total: found.total };
    },
    histogram: async ({ text, ...filter }) => {
      const asked = { ...asWhose(filter), ...matching(text) };
      const [days, variants] = await Promise.all([
        kernel.request("lares/memory/count", { ...asked, group_by: "day" }),
        kernel.request("lares/memory/count", { ...asked, group_by: "variant" }),
      ]);
      return { days: days.groups ?? {}, variants: variants.groups ?? {} };
    },
    knowledge: async ({ search, by, ...whose }) => {
      const asked = asWhose(whose);
      if (search !== "" && by === "words") {
        const { variant, ...rest } = asked;
        const found = (await kernel.request("lares/memory/query", {
          ...rest,
          kind: "search",
          mode: "text",
          text: search,
          limit: maxItems,
        })) as SearchResult;
        return { items: itemsIn(found).filter((item) => variant === undefined || item.variant === variant) };
      }
      const found = (await kernel.request("lares/memory/query", {
        ...asked,
        kind: "associative",
        top_k: maxItems,
        ...(search === "" ? {} : { similar_to: search }),
      })) as ItemResult;
      return { items: found.items.map(shownItem) };
    },
    related: async ({ id, ...whose }) => {
      const found = (await kernel.request("lares/memory/query", {
        ...asWhose(whose),
        kind: "associative",
        related_to: { id, depth: 2 },
        top_k: maxGraphItems,
      })) as ItemResult;
      return { items: found.items.map(shownItem) };
    },
    working: async (whose) => {
      const { revision, state } = (await kernel.request("lares/memory/query", {
        ...asWhose(whose),
        kind: "working",
      })) as WorkingResult;
      const { data, ...rest } = shownData(state);
      return { revision, state: data, ...rest };
    },
    witness: async (whose) => shownWitness(await kernel.request("lares/memory/stats", asWhose(whose))),
    verify: async (whose) => {
      const { ok, records, head, firstBad } = await kernel.request("lares/memory/verify", asWhose(whose));
      return {
        ok,
        records,
        ...(head === null ? {} : { head }),
        ...(firstBad === undefined ? {} : { firstBad }),
      };
    },
  };
}

/** Removes absent members of a filter; the type keeps the owner as present. */
const asWhose = <Filter extends { readonly agent: string }>(filter: Filter) => ({
  ...given(filter),
  agent: filter.agent,
});

const matching = (text: string | undefined) => (text === undefined ? {} : { text: { match: text } });
