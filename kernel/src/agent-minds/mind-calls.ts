import type { Action } from "../base/vocabulary/action.ts";
import type { Asking, Question } from "../base/vocabulary/ask.ts";
import { isJsonObject } from "../base/json.ts";
import { leftOutWords } from "../base/vocabulary/ask-arguments.ts";
import { bothForeign, type Foreign, nothingForeign } from "../base/vocabulary/foreign.ts";
import { quotedText } from "../base/visible-text.ts";
import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { otherSources } from "../base/vocabulary/bounds.ts";
import type { TaintedContent, TaintedContents, TaintMarks } from "../conversations/tainted-contents.ts";
import { argumentsFact, callFact } from "../minds/asked-call.ts";
import type { CallOptions, CallOutcome, FilePicture } from "../minds/ports.ts";
import { callsToolsOf, passesTo, reachedFrom } from "../policy/passing.ts";
import type { ShownFile } from "../file-tools/ports.ts";
import type { MovedFolder } from "../conversations/untrusted-places.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { MindTools } from "./mind-tools.ts";

interface CallPorts {
  readonly tools: MindTools;
  readonly agents: {
    /** Returns the current authorities of all enabled agents. */
    authorities(): readonly Authority[];
  };
  readonly actions: { get(id: string): Promise<Action | null> };
  readonly asks: { isAllowed(question: Question, signal: AbortSignal, asking?: Asking): Promise<boolean> };
  readonly tainted: TaintedContents;
  /** Returns what the index has at a path; null if it has nothing there. */
  kindOf(path: string): EntryKind | null;
}

const maxSources = 16;
/** Characters of a call's arguments that a question shows. */
const maxShownCharacters = 4_000;

/** Calls tools for processes of minds, and follows where texts come from and where they go. */
export class MindCalls {
  readonly #ports: CallPorts;
  /** Marks are written one after the other, so that the last state of an action is what is left of it. */
  #marking: Promise<unknown> = Promise.resolve();

  constructor(ports: CallPorts) {
    this.#ports = ports;
  }

  async call(
    caller: ProcessPrincipal,
    tool: string,
    args: unknown,
    { foreign, asking, ...options }: CallOptions,
  ): Promise<CallOutcome> {
    const hosts = this.#hostsOf(tool, callsToolsOf);
    if (foreign.length > 0 && options.offered.includes(tool))
      for (const host of this.#hostsOf(tool, passesTo))
        if (!(await this.#mayLeave(caller, tool, args, host, foreign, options.signal, asking)))
          return {
            result: {
              status: "error",
              message: `A person did not allow that ${tool} is called, because its agent can reach ${host}.`,
              recoverable: false,
            },
            origin: "workspace",
            isTainted: false,
          };
    let heard = nothingForeign;
    const hear = (more: Foreign): void => void (heard = bothForeign(heard, more));
    const shown: ShownFile[] = [];
    const show = (file: ShownFile): void => void shown.push(file);
    const result = await this.#ports.tools.call(tool, args, caller, { ...options, hear, show });
    await this.#remember(caller, result);
    const from = tool.startsWith("files/")
      ? await this.#provenanceOf(shown)
      : provenanceOfAgent(caller, tool, hosts, Object.keys(heard));
    return { result, ...from };
  }

  /** Reads a picture; where it comes from is known by the bytes that were read, whatever the file has become. */
  async picture(caller: ProcessPrincipal, path: string): Promise<FilePicture | null> {
    const picture = await this.#ports.tools.picture(path, caller);
    if (picture === null) return null;
    const { isTainted, sources } = await this.#provenanceOf([{ path, read: sha256(picture.bytes) }]);
    return { ...picture, isTainted, ...(sources === undefined ? {} : { sources }) };
  }

  /** An action has changed: however it came about, and whatever a person made of it, its contents keep their sources. */
  async actionChanged(action: Action): Promise<void> {
    await this.#inTurn(() => this.#mark(action, []));
  }

  /** Finishes what an earlier kernel did not: an action may have ended without its marks. */
  async recover(): Promise<void> {
    await this.#inTurn(async () => {
      for (const id of await this.#ports.tainted.proposed()) {
        const action = await this.#ports.actions.get(id);
        // The ledger has lost the action, so its marks stay.
        if (action === null) await this.#ports.tainted.keep(id, { contents: [], folders: [] });
        else await this.#mark(action, []);
      }
    });
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const turn = this.#marking.then(run);
    this.#marking = turn.catch(() => undefined);
    return turn;
  }

  /** Files written because of untrusted text stay marked as untrusted. */
  async #remember({ lineage: { sources = [] } }: ProcessPrincipal, result: ToolResult): Promise<void> {
    const id =
      result.status === "needs_approval"
        ? result.action.id
        : result.status === "success" && isJsonObject(result.value)
          ? result.value["action"]
          : undefined;
    if (typeof id !== "string") return;
    await this.#inTurn(async () => {
      const action = await this.#ports.actions.get(id);
      if (action !== null) await this.#mark(action, sources);
    });
  }

  async #mark(action: Action, more: readonly string[]): Promise<void> {
    const { tainted } = this.#ports;
    switch (action.state) {
      // Marked before it is made: a kernel may die in between.
      case "PendingApproval":
      case "Approved":
      case "Committing":
        return await tainted.propose(action.id, await this.#marksOf(action, more));
      case "Committed":
      // The contents that it left were in files, and may have been copied.
      case "Undone":
        return await tainted.keep(action.id, await this.#marksOf(action, more));
      case "Rejected":
      case "Failed":
      case "Stale":
      case "Expired":
        return await tainted.drop(action.id);
    }
  }

  /**
   * A content that is made from another, by an edit or by merging it with a later one, has that one's sources too, whoever
   * makes it; the other may itself be made by an effect before it. And what a mind moves from an untrusted place is not more
   * trusted elsewhere, nor is what an undo moves back from one.
   */
  async #marksOf(
    { sources = [], effects, state, on_behalf_of: by = [], rebased_by: rebasedBy }: Action,
    more: readonly string[],
  ): Promise<TaintMarks> {
    const { tainted } = this.#ports;
    const isOfMind = by.some(({ kind }) => kind === "process");
    const contents: TaintedContent[] = [];
    const folders: MovedFolder[] = [];
    const isMerged = rebasedBy !== undefined;
    for (const { kind, path, from, before, after } of effects) {
      if (after === null) continue;
      if (from !== undefined && isOfMind) {
        const kind = this.#ports.kindOf(from) ?? this.#ports.kindOf(path);
        if (kind !== "file") folders.push(state === "Undone" ? { path: from, from: path } : { path, from });
        if (kind === "folder") continue;
      }
      const left = isOfMind && from !== undefined ? await tainted.ofPlaces([from]) : [];
      const stays = before !== null && (kind === "file.edit" || kind === "file.move" || isMerged);
      const made = contents.filter(({ hash }) => hash === before).flatMap((content) => content.sources);
      const kept = stays ? [...made, ...(await tainted.ofContents([before]))] : [];
      const all = [...new Set([...sources, ...more, ...kept, ...left])].slice(0, maxSources);
      if (all.length > 0) contents.push({ path, hash: after, sources: all });
    }
    return { contents, folders };
  }

  /** Where the texts of a tool of the kernel come from, by the files that it has shown. */
  async #provenanceOf(shown: readonly ShownFile[]): Promise<Omit<CallOutcome, "result">> {
    const { places, contents } = await this.#ports.tainted.ofFiles(shown);
    const sources = [...new Set([...places, ...contents])].slice(0, maxSources);
    return {
      origin: "workspace",
      isTainted: sources.length > 0,
      ...(sources.length === 0 ? {} : { sources }),
    };
  }

  /** Returns the hosts that a tool's agent can reach, by itself or through the agents to which `isStep` leads. */
  #hostsOf(tool: string, isStep: typeof passesTo): readonly string[] {
    if (tool.startsWith("files/")) return [];
    const agent = tool.slice(0, tool.lastIndexOf("/"));
    const all = this.#ports.agents.authorities();
    const start = all.find(({ extension }) => extension === agent);
    if (start === undefined || all.every(({ hosts = [] }) => hosts.length === 0)) return [];
    const hosts = reachedFrom(start, all, isStep).flatMap(({ hosts = [] }) => hosts);
    return [...new Set(hosts)].toSorted();
  }

  #mayLeave(
    { agent, conversation, process, lineage }: ProcessPrincipal,
    tool: string,
    args: unknown,
    host: string,
    foreign: readonly string[],
    signal: AbortSignal,
    asking: Asking | undefined,
  ): Promise<boolean> {
    const sources =
      foreign.length <= maxSources ? foreign : [...foreign.slice(0, maxSources - 1), otherSources];
    const isTainted = (lineage.sources ?? []).length > 0;
    const given = argumentsFact(args, maxShownCharacters);
    const left = given.arguments_left_out ?? 0;
    const cut = left === 0 ? "" : ` The call's arguments are cut here: ${leftOutWords(left)}`;
    return this.#ports.asks.isAllowed(
      {
        agent,
        conversation,
        process,
        kind: "egress",
        title: `May ${agent} send to ${quotedText(host)} by ${quotedText(tool)}?`,
        reason: `The agent of this tool can reach ${quotedText(host)}, and the conversation holds text that neither you nor the model wrote.${cut}`,
        sources: [...sources],
        facts: { tool, host, ...given, ...callFact({ agent, conversation }, tool, args) },
        // Once text that nobody vouches for is here, each call is looked at; an answer covers no source that comes later,
        // and none that is not told apart.
        scopes: isTainted || sources.includes(otherSources) ? ["once"] : ["once", "conversation"],
        about: `${tool} to ${host} with text from ${foreign.toSorted().map(inList).join(", ")}`,
        countsFor: "agent",
      },
      signal,
      asking,
    );
  }
}

/** Returns a source so that no list of other sources reads the same. */
function inList(source: string): string {
  return /[,"]/.test(source) ? quotedText(source) : source;
}

function provenanceOfAgent(
  { lineage }: ProcessPrincipal,
  tool: string,
  hosts: readonly string[],
  read: readonly string[],
): Omit<CallOutcome, "result"> {
  const source = `agent:${tool.slice(0, tool.lastIndexOf("/"))}`;
  if (hosts.length > 0) return { origin: "web", isTainted: true, sources: [source] };
  // A guest may answer with whatever it has read since it was started.
  const known = [...new Set([...(lineage.sources ?? []), ...read])].slice(0, maxSources);
  return {
    origin: source,
    isTainted: known.length > 0,
    ...(known.length === 0 ? {} : { sources: known }),
  };
}
