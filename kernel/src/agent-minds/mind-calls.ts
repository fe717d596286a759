import type { Action } from "../base/vocabulary/action.ts";
import type { Asking, Question } from "../base/vocabulary/ask.ts";
import { isJsonObject } from "../base/json.ts";
import { leftOutWords } from "../base/vocabulary/ask-arguments.ts";
import { bothForeign, type Foreign, nothingForeign } from "../base/vocabulary/foreign.ts";
import { quotedText } from "../base/visible-text.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { otherSources } from "../conversations/fold.ts";
import type { TaintedContent, TaintedContents } from "../conversations/tainted-contents.ts";
import { argumentsFact, callFact } from "../minds/asked-call.ts";
import type { CallOptions, CallOutcome, FilePicture } from "../minds/ports.ts";
import { callsToolsOf, passesTo, reachedFrom } from "../policy/passing.ts";
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
  /** Returns the content's hash of a file as the index knows it now. */
  contentOf(path: string): string | null;
  /** Returns whether nobody vouches for the file at a path. */
  isUntrusted(path: string): boolean;
}

const maxSources = 16;
/** Characters of a call's arguments that a question shows. */
const maxShownCharacters = 4_000;

/** Calls tools for processes of minds, and follows where texts come from and where they go. */
export class MindCalls {
  readonly #ports: CallPorts;

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
    const result = await this.#ports.tools.call(tool, args, caller, { ...options, hear });
    await this.#remember(caller, result);
    return { result, ...(await this.#provenanceOf(caller, tool, result, hosts, Object.keys(heard))) };
  }

  /** Reads a picture; where it comes from is known by the bytes that were read, whatever the file has become. */
  async picture(caller: ProcessPrincipal, path: string): Promise<FilePicture | null> {
    const picture = await this.#ports.tools.picture(path, caller);
    if (picture === null) return null;
    const result: ToolResult = { status: "success", value: { path, hash: sha256(picture.bytes) } };
    const { isTainted, sources } = await this.#provenanceOf(caller, "files/read", result, [], []);
    return { ...picture, isTainted, ...(sources === undefined ? {} : { sources }) };
  }

  /** An action has changed: however it came about, and whatever a person made of it, its contents keep their sources. */
  async actionChanged(action: Action): Promise<void> {
    if (action.state === "Committed" || action.state === "PendingApproval") await this.#markContents(action);
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
    const action = await this.#ports.actions.get(id);
    if (action !== null) await this.#markContents(action, sources);
  }

  /**
   * An edit leaves most of what it changes, whoever makes it: the new content has the sources of the old one too. And what a
   * mind moves from an untrusted place is not more trusted elsewhere.
   */
  async #markContents(
    { sources = [], effects, on_behalf_of: by = [] }: Action,
    more: readonly string[] = [],
  ): Promise<void> {
    const { tainted } = this.#ports;
    const isOfMind = by.some(({ kind }) => kind === "process");
    const contents: TaintedContent[] = [];
    for (const { kind, path, from, before, after } of effects) {
      if (after === null) continue;
      const left = isOfMind && from !== undefined && this.#ports.isUntrusted(from) ? [from] : [];
      const edited = kind === "file.edit" && before !== null ? await tainted.ofContents([before]) : [];
      const all = [...new Set([...sources, ...more, ...edited, ...left])].slice(0, maxSources);
      if (all.length > 0) contents.push({ path, hash: after, sources: all });
    }
    await tainted.add(contents);
  }

  async #provenanceOf(
    { lineage }: ProcessPrincipal,
    tool: string,
    result: ToolResult,
    hosts: readonly string[],
    read: readonly string[],
  ): Promise<Omit<CallOutcome, "result">> {
    if (!tool.startsWith("files/")) {
      const agent = tool.slice(0, tool.lastIndexOf("/"));
      const source = `agent:${agent}`;
      if (hosts.length > 0) return { origin: "web", isTainted: true, sources: [source] };
      // A guest may answer with whatever it has read since it was started.
      const known = [...new Set([...(lineage.sources ?? []), ...read])].slice(0, maxSources);
      return {
        origin: source,
        isTainted: known.length > 0,
        ...(known.length === 0 ? {} : { sources: known }),
      };
    }
    const { paths, hash } = shownIn(result);
    const untrusted = paths.filter((path) => this.#ports.isUntrusted(path));
    // A whole file is known by the content that was read. Names and lines of several files may come from what stood at
    // their paths before, or from contents that were moved or copied there.
    const written =
      hash === null
        ? [
            ...(await this.#ports.tainted.ofPaths(paths)),
            ...(await this.#ports.tainted.ofContents(this.#contentsOf(paths))),
          ]
        : await this.#ports.tainted.ofContents([hash]);
    const sources = [...new Set([...untrusted, ...written])].slice(0, maxSources);
    return {
      origin: "workspace",
      isTainted: sources.length > 0,
      ...(sources.length === 0 ? {} : { sources }),
    };
  }

  #contentsOf(paths: readonly string[]): string[] {
    return paths.flatMap((path) => this.#ports.contentOf(path) ?? []);
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

/** Returns the files whose names or contents a result of a file tool shows, and the hash of one that it shows whole. */
function shownIn(result: ToolResult): { readonly paths: string[]; readonly hash: string | null } {
  const value = result.status === "success" ? result.value : null;
  if (!isJsonObject(value)) return { paths: [], hash: null };
  const { path, files, entries, hash } = value;
  return {
    paths: [
      ...(typeof path === "string" ? [path] : []),
      ...(Array.isArray(files) ? files.filter((file) => typeof file === "string") : []),
      ...(Array.isArray(entries)
        ? entries.flatMap((entry) =>
            isJsonObject(entry) && typeof entry["path"] === "string" ? [entry["path"]] : [],
          )
        : []),
    ],
    hash: typeof hash === "string" ? hash : null,
  };
}
