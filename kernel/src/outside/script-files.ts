import { canonicalJson } from "../base/json.ts";
import { checkScript } from "../documents/script.ts";
import type { ScriptedTurn } from "../models/scripted.ts";
import { readText, versionOf } from "../platform/files/document-files.ts";
import { sha256 } from "../platform/files/hash.ts";

/** The content of a file of scripted answers. */
interface ReadScript {
  readonly turns: readonly ScriptedTurn[];
  /** The window of its model; undefined: it names none. */
  readonly contextTokens: number | undefined;
  /** Returns a digest that identifies a turn in a run: a turn that was changed counts as another one. */
  digestOf(turn: number, run: string): string;
}

interface Known {
  readonly version: string;
  readonly result: ReadScript | string;
}

/** Reads scripts, and reads a file again once it has changed: its author may be writing it. */
export class ScriptFiles {
  readonly #known = new Map<string, Known>();

  /** Returns the window of the script's model as of the last answer, which no request waits for; undefined: it names none. */
  async contextTokens(file: string): Promise<number | undefined> {
    const result = this.#known.get(file)?.result ?? (await this.read(file));
    return typeof result === "string" ? undefined : result.contextTokens;
  }

  /** Returns the script, or a sentence that says why there is none. */
  async read(file: string): Promise<ReadScript | string> {
    const version = await versionOf(file);
    const known = this.#known.get(file);
    if (known !== undefined && known.version === version) return known.result;
    const text = await readText(file);
    if (text === null)
      return `The script "${file}" cannot be read. Name an existing file in your lares.yaml.`;
    const { value, diagnostics } = await checkScript(text, file);
    const result =
      value === null
        ? `The script "${file}" has errors: ${diagnostics.find(({ severity }) => severity === "error")?.message ?? ""}`
        : readScript(value.turns, value.context_tokens);
    if (version !== null) this.#known.set(file, { version, result });
    return result;
  }
}

function readScript(turns: readonly ScriptedTurn[], contextTokens: number | undefined): ReadScript {
  const texts = new Map<number, string>();
  return {
    turns,
    contextTokens,
    digestOf: (turn, run) => {
      const text = texts.get(turn) ?? canonicalJson(turns[turn] ?? null);
      texts.set(turn, text);
      return sha256(run + text);
    },
  };
}
