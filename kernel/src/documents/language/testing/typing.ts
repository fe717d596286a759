import type { DocumentFormat } from "../../text/source.ts";
import { complete, type EditedDocument } from "../complete.ts";
import type { Proposals } from "../proposal.ts";
import { environment } from "./environment.ts";

export type Kind = EditedDocument["kind"];

/** `|` is the cursor. */
export function split(source: string): { text: string; offset: number } {
  const offset = source.indexOf("|");
  return { text: source.slice(0, offset) + source.slice(offset + 1), offset };
}

export function proposals(
  kind: Kind,
  format: DocumentFormat,
  source: string,
  snippets = false,
): Promise<Proposals> {
  const { text, offset } = split(source);
  return complete({ kind, format, text }, offset, environment({ client: { snippets } }));
}

export async function labels(kind: Kind, format: DocumentFormat, source: string): Promise<string[]> {
  return (await proposals(kind, format, source)).items.map(({ label }) => label);
}

/** Returns the text after the completion is accepted. */
export async function accepted(
  kind: Kind,
  format: DocumentFormat,
  source: string,
  label: string,
  snippets = false,
): Promise<string> {
  const { items } = await proposals(kind, format, source, snippets);
  const item = items.find((each) => each.label === label);
  if (item === undefined)
    throw new Error(`"${label}" is not among ${items.map((each) => each.label).join(", ")}`);
  const { text } = split(source);
  return text.slice(0, item.start) + item.newText + text.slice(item.end);
}

/** Minimal valid manifests. */
export const Y = "extension:\n  id: a.b\n  name: x\n  version: 1.0.0\n";
export const T = '[extension]\nid = "a.b"\nname = "x"\nversion = "1.0.0"\n';
