import { neverAborted, unlessAborted } from "../base/abort.ts";
import { isLaresError, LaresError, notFound } from "../base/errors.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { maxWaitingCalls } from "../base/vocabulary/bounds.ts";
import { Slices } from "../base/slices.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { toolFailure, type ToolResult } from "../base/vocabulary/tool-result.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import { type ChangeArguments, changeFile } from "./change-file.ts";
import { type ChangingTool, effectKinds, type FileTool, fileTools } from "./definitions.ts";
import { type ListArguments, listFiles } from "./list-files.ts";
import { jsonBytes } from "./names.ts";
import { ownTextsFault, withRightTool } from "./own-texts.ts";
import type { FilesOfCall, FileToolOptions, FileToolPorts } from "./ports.ts";
import { type ReadArguments, readFile } from "./read-file.ts";
import { readPicture } from "./read-picture.ts";
import { type SearchArguments, searchFiles } from "./search-files.ts";

/** How long searches may use the event loop before others get a turn. Milliseconds. */
const sliceMs = 4;

/** The kernel's tools for the files of the workspace, which processes of minds call. */
export class FileTools {
  readonly #ports: FileToolPorts;
  readonly #slices: Slices;
  /** An agent with many processes searches as much as one with a single process. */
  readonly #searches = new OneAtATime({ limit: "waitingCalls", most: maxWaitingCalls });

  constructor(ports: FileToolPorts) {
    this.#ports = ports;
    this.#slices = new Slices(ports.clock, sliceMs);
  }

  /** Returns the tools, sorted by name. */
  list(): readonly FileTool[] {
    return fileTools;
  }

  /**
   * Calls a tool. A refusal is a result of the status `error`. Rejects only with the signal's reason, once the signal is
   * aborted, and with errors of the kernel itself. A change that has begun is finished and answered.
   */
  async call(
    name: string,
    args: unknown,
    principal: ProcessPrincipal,
    options: FileToolOptions,
  ): Promise<ToolResult> {
    try {
      return withinBounds(await this.#call(name, args ?? {}, principal, options));
    } catch (error) {
      options.signal.throwIfAborted();
      if (isLaresError(error)) return toolFailure(error);
      throw error;
    }
  }

  /** Returns a file that is a picture, as `readPicture` does. */
  picture(path: string, principal: ProcessPrincipal): ReturnType<typeof readPicture> {
    return readPicture(this.#ports.accessOf(principal, neverAborted), path);
  }

  async #call(
    name: string,
    args: unknown,
    principal: ProcessPrincipal,
    options: FileToolOptions,
  ): Promise<ToolResult> {
    const tool = fileTools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw notFound("tool", name);
    this.#ports.check(tool, args);
    const own = this.#ports.ownTextsOf(principal);
    const named = args as Readonly<Record<string, unknown>>;
    const fault = ownTextsFault(name, named, own);
    if (fault !== null) throw fault;
    try {
      return await this.#run(name, args, principal, options);
    } catch (error) {
      throw withRightTool(error, named, own);
    }
  }

  async #run(
    name: string,
    args: unknown,
    principal: ProcessPrincipal,
    { key, signal, show }: FileToolOptions,
  ): Promise<ToolResult> {
    const sum = this.#ports.sum.bind(this.#ports);
    const files: FilesOfCall = { ...this.#ports.accessOf(principal, signal), show, sum };
    switch (name) {
      case "files/read":
        return success(await readFile(files, args as ReadArguments, signal));
      case "files/list":
        return success(await listFiles(files, args as ListArguments));
      case "files/search": {
        const search = (): Promise<unknown> =>
          searchFiles(files, args as SearchArguments, this.#slices, signal);
        const waiting = this.#searches.run(principal.agent, search, () => !signal.aborted);
        return success(await unlessAborted(waiting, signal));
      }
      default:
        if (!Object.hasOwn(effectKinds, name)) throw notFound("tool", name);
        return await changeFile(files, name as ChangingTool, args as ChangeArguments, key);
    }
  }
}

const success = (value: unknown): ToolResult => ({ status: "success", value });

function withinBounds(result: ToolResult): ToolResult {
  const bytes = jsonBytes(result);
  if (bytes <= bounds.resultBytes) return result;
  return toolFailure(
    new LaresError(
      "LimitExceeded",
      `The result would have ${bytes} bytes; at most ${bounds.resultBytes} are returned. Ask for less at a time.`,
    ),
  );
}
