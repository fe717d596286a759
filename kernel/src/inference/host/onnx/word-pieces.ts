import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import { unusable, UnusableModel } from "../../unusable.ts";

/** Turns a text into what a model reads. */
export interface TextTokens {
  /** With the marks for beginning and end, at most `limit` in all. */
  encode(text: string, limit: number): number[];
}

const maxVocabularyBytes = 32 * 1024 * 1024;
const maxWordCharacters = 100;
/** More characters have no effect: each token covers at least one. */
const charactersPerToken = 32;

interface Vocabulary {
  readonly ids: ReadonlyMap<string, number>;
  readonly isLowerCase: boolean;
}

/**
 * The WordPiece tokens of BERT's family (all-MiniLM, bge, e5, gte), from `vocab.txt` or `tokenizer.json` beside the
 * model or in the folder above. Throws UnusableModel if there is none, or if it is of another kind.
 */
export async function loadWordPieces(modelPath: string): Promise<TextTokens> {
  const folders = [dirname(modelPath), dirname(dirname(modelPath))];
  for (const folder of folders) {
    const vocabulary = (await fromVocabulary(folder)) ?? (await fromTokenizer(folder));
    if (vocabulary !== null) return wordPieces(vocabulary, folder);
  }
  throw unusable(
    `Beside ${modelPath} there is neither vocab.txt nor tokenizer.json. Put the one that came with the model there.`,
  );
}

async function fromVocabulary(folder: string): Promise<Vocabulary | null> {
  const lines = await readText(join(folder, "vocab.txt"));
  if (lines === null) return null;
  const ids = new Map(
    lines.split(/\r?\n/u).flatMap((piece, id) => (piece === "" ? [] : [[piece, id] as const])),
  );
  const config = parsed(await readText(join(folder, "tokenizer_config.json")), folder);
  return { ids, isLowerCase: fieldOf(config, "do_lower_case") !== false };
}

async function fromTokenizer(folder: string): Promise<Vocabulary | null> {
  const tokenizer = parsed(await readText(join(folder, "tokenizer.json")), folder);
  if (tokenizer === null) return null;
  const model = fieldOf(tokenizer, "model");
  const pieces = fieldOf(model, "vocab");
  if (fieldOf(model, "type") !== "WordPiece" || typeof pieces !== "object" || pieces === null) {
    throw unusable(
      `${folder}/tokenizer.json is not of the kind WordPiece. Choose a model of BERT's family: all-MiniLM, bge, e5, gte.`,
    );
  }
  const ids = new Map(Object.entries(pieces).filter(([, id]) => Number.isInteger(id)) as [string, number][]);
  return { ids, isLowerCase: fieldOf(fieldOf(tokenizer, "normalizer"), "lowercase") !== false };
}

export function wordPieces({ ids, isLowerCase }: Vocabulary, folder: string): TextTokens {
  const special = (name: string): number => {
    const id = ids.get(name);
    if (id === undefined)
      throw unusable(`The vocabulary in ${folder} has no ${name}: it is not the one of a WordPiece model.`);
    return id;
  };
  const [unknown, first, last] = [special("[UNK]"), special("[CLS]"), special("[SEP]")];
  return {
    encode(text, limit) {
      const tokens = [first];
      for (const word of wordsOf(text.slice(0, limit * charactersPerToken), isLowerCase)) {
        if (tokens.length >= limit - 1) break;
        tokens.push(...piecesOf(word, ids, unknown));
      }
      return [...tokens.slice(0, limit - 1), last];
    },
  };
}

/** The blocks that BERT's tokenizers split between characters: ideographs only, not all of the script Han. */
const ideographs =
  "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}";
const signs = "\\p{P}$+<=>^`|~";
const words = new RegExp(`[${ideographs}${signs}]|[^\\s${ideographs}${signs}]+`, "gu");

/**
 * Splits as BERT's tokenizers do: at blanks, and around each sign of punctuation and each ideograph. Characters that
 * cannot be seen, such as a soft hyphen, are left out and split nothing.
 */
function wordsOf(text: string, isLowerCase: boolean): string[] {
  const clean = text.replace(/[^\P{Cc}\t\n\r]|[\p{Cf}\p{Co}\p{Cs}\ufffd]/gu, "");
  const plain = isLowerCase
    ? clean
        .normalize("NFD")
        .replace(/\p{Mn}/gu, "")
        .toLowerCase()
    : clean;
  return plain.match(words) ?? [];
}

/** The longest piece that is known, again and again; one unknown where that does not come out. */
function piecesOf(word: string, ids: ReadonlyMap<string, number>, unknown: number): number[] {
  const characters = Array.from(word);
  if (characters.length > maxWordCharacters) return [unknown];
  const pieces: number[] = [];
  for (let start = 0; start < characters.length;) {
    let end = characters.length;
    let id: number | undefined;
    while (end > start) {
      id = ids.get((start === 0 ? "" : "##") + characters.slice(start, end).join(""));
      if (id !== undefined) break;
      end -= 1;
    }
    if (id === undefined) return [unknown];
    pieces.push(id);
    start = end;
  }
  return pieces;
}

/** Null if there is no such file. */
export async function readText(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    if (size > maxVocabularyBytes)
      throw unusable(`${path} has ${size} bytes, which is more than any vocabulary has.`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return null;
    if (error instanceof UnusableModel) throw error;
    throw unusable(`${path} cannot be read: ${messageOf(error)}`);
  }
}

export function parsed(text: string | null, where: string): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unusable(`A file of the model in ${where} is not JSON: ${messageOf(error)}`);
  }
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
