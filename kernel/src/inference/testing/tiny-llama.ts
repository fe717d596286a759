import { ggufFile, type GgufTensor, type GgufValue } from "./gguf-file.ts";

/**
 * A language model with some ten thousand weights that mean nothing, as a GGUF file. After a line's end it begins to call
 * a tool; everything else that it writes is as good as drawn.
 */

const width = 32;
const layers = 2;
const heads = 2;
const wide = 64;

/** How a call begins in templates that do not know tools. */
const callToken = "||call:";
const lineEnd = "<0x0A>";
const template =
  "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

interface Word {
  readonly text: string;
  /** 1 a word, 2 unknown, 3 no text, 4 a word that is found first, 6 a byte. */
  readonly type: number;
}

const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, "0");
/**
 * It writes none of these where it may write anything else: what ends an answer, so that answers are as long as they may
 * be, and bytes of which llama.cpp's grammars do not tell wrong sequences from right ones.
 */
const isUnwritten = ({ type, text }: Word): boolean =>
  type === 2 || type === 3 || (type === 6 && /^<0x(?:C[01]|[EF].)>$/.test(text));

const words: readonly Word[] = [
  { text: "<unk>", type: 2 },
  { text: "<s>", type: 3 },
  { text: "</s>", type: 3 },
  ...Array.from({ length: 256 }, (_, byte): Word => ({ text: `<0x${hex(byte)}>`, type: 6 })),
  { text: "<|im_start|>", type: 3 },
  { text: "<|im_end|>", type: 3 },
  { text: callToken, type: 4 },
  // A space is written so in vocabularies of this kind.
  ...["\u2581", ...Array.from({ length: 94 }, (_, at) => String.fromCharCode(at + 33))].map((text): Word => ({
    text,
    type: 1,
  })),
];
/** The words of its vocabulary, by their numbers. */
export const tinyWords: readonly string[] = words.map(({ text }) => text);
const idOf = (text: string): number => words.findIndex((word) => word.text === text);

interface TinyOptions {
  readonly contextTokens?: number;
  readonly architecture?: string;
  /** Fields that replace the model's own; null leaves one out. */
  readonly fields?: Readonly<Record<string, GgufValue | null>>;
}

/** The bytes of its file. */
export function tinyLlama({
  contextTokens = 2048,
  architecture = "llama",
  fields = {},
}: TinyOptions = {}): Uint8Array {
  const own: Record<string, GgufValue | null> = {
    "general.architecture": { type: "text", value: architecture },
    "general.name": { type: "text", value: "tiny" },
    "general.file_type": { type: "u32", value: 0 },
    [`${architecture}.context_length`]: { type: "u32", value: contextTokens },
    [`${architecture}.embedding_length`]: { type: "u32", value: width },
    [`${architecture}.block_count`]: { type: "u32", value: layers },
    [`${architecture}.feed_forward_length`]: { type: "u32", value: wide },
    [`${architecture}.attention.head_count`]: { type: "u32", value: heads },
    [`${architecture}.attention.head_count_kv`]: { type: "u32", value: heads },
    [`${architecture}.attention.layer_norm_rms_epsilon`]: { type: "f32", value: 1e-5 },
    [`${architecture}.rope.dimension_count`]: { type: "u32", value: width / heads },
    [`${architecture}.vocab_size`]: { type: "u32", value: words.length },
    "tokenizer.ggml.model": { type: "text", value: "llama" },
    "tokenizer.ggml.tokens": { type: "texts", value: words.map(({ text }) => text) },
    "tokenizer.ggml.scores": { type: "f32s", value: words.map(() => 0) },
    "tokenizer.ggml.token_type": { type: "i32s", value: words.map(({ type }) => type) },
    "tokenizer.ggml.bos_token_id": { type: "u32", value: idOf("<s>") },
    "tokenizer.ggml.eos_token_id": { type: "u32", value: idOf("</s>") },
    "tokenizer.ggml.eot_token_id": { type: "u32", value: idOf("<|im_end|>") },
    "tokenizer.ggml.unknown_token_id": { type: "u32", value: idOf("<unk>") },
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
    "tokenizer.chat_template": { type: "text", value: template },
    ...fields,
  };
  const kept = Object.entries(own).filter((field): field is [string, GgufValue] => field[1] !== null);
  return ggufFile(Object.fromEntries(kept), tensors());
}

/** The numbers of a tensor that is a table of rows, as long as its first dimension. */
type Change = (row: number, column: number, drawn: number) => number;

function tensors(): GgufTensor[] {
  let count = 0;
  const table = (name: string, columns: number, rows: number, change: Change = (_r, _c, drawn) => drawn) => {
    const numbers = new Float32Array(columns * rows);
    for (let at = 0; at < numbers.length; at++)
      // The fractional parts of a sine's multiples look drawn, and are the same in every run.
      numbers[at] = change(Math.floor(at / columns), at % columns, Math.sin(++count * 12.9898) * 0.5);
    return { name, shape: [columns, rows], numbers };
  };
  const ones = (name: string): GgufTensor => ({
    name,
    shape: [width],
    numbers: new Float32Array(width).fill(1),
  });
  // No layer changes the first two columns. The first is that of a line's end, and only the call's begin asks for it; the
  // second is everyone's, and what must not be written dislikes it.
  const [line, call] = [idOf(lineEnd), idOf(callToken)];
  const fixed = (
    column: number,
    first: boolean,
    second: boolean,
    drawn: number,
    [one, other]: [number, number],
  ) => (column > 1 ? drawn : column === 0 ? (first ? one : 0) : second ? other : 0);
  const mark: Change = (row, column, drawn) => fixed(column, row === line, true, drawn, [8, 4]);
  const passing: Change = (row, _column, drawn) => (row < 2 ? 0 : drawn);
  const asking: Change = (row, column, drawn) => {
    const word = words[row];
    return fixed(column, row === call, word !== undefined && isUnwritten(word), drawn, [40, -40]);
  };
  return [
    table("token_embd.weight", width, words.length, mark),
    ...Array.from({ length: layers }, (_, layer) => `blk.${layer}`).flatMap((layer) => [
      ones(`${layer}.attn_norm.weight`),
      ...["q", "k", "v"].map((part) => table(`${layer}.attn_${part}.weight`, width, width)),
      table(`${layer}.attn_output.weight`, width, width, passing),
      ones(`${layer}.ffn_norm.weight`),
      table(`${layer}.ffn_gate.weight`, width, wide),
      table(`${layer}.ffn_up.weight`, width, wide),
      table(`${layer}.ffn_down.weight`, wide, width, passing),
    ]),
    ones("output_norm.weight"),
    table("output.weight", width, words.length, asking),
  ];
}
