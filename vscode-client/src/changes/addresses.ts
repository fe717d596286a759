import { Uri } from "vscode";
import type { Effect } from "../protocol.ts";

/** Documents of this scheme are served by `provider.ts`: either side of an effect, as the kernel has it. */
export const changeScheme = "lares-change";

export type Side = "before" | "after";

export interface ChangeAddress {
  readonly action: string;
  /** Index into the action's effects. */
  readonly effect: number;
  readonly side: Side;
  /** How the document is called; its end decides the language. */
  readonly path: string;
}

/** What is not the document's name stands in the query, where no breadcrumb shows it. */
export function uriOfChange({ action, effect, side, path }: ChangeAddress): Uri {
  return Uri.from({ scheme: changeScheme, path: `/${path}`, query: `${action}/${effect}/${side}` });
}

const query = /^([^/]{1,256})\/(\d{1,4})\/(before|after)$/u;

export function addressOf(uri: Uri): ChangeAddress | undefined {
  if (uri.scheme !== changeScheme) return undefined;
  const [, action, effect, side] = query.exec(uri.query) ?? [];
  if (action === undefined || effect === undefined) return undefined;
  return {
    action,
    effect: Number(effect),
    side: side === "before" ? "before" : "after",
    path: uri.path.slice(1),
  };
}

/** Whether an effect is shown as two contents; the others are told in words. */
export function hasContents({ kind }: Effect): boolean {
  return kind === "file.write" || kind === "file.edit" || kind === "file.delete";
}

/** Where either side of an effect is read; told in words, it is a text document whatever the file is. */
export function addressOfSide(action: string, index: number, effect: Effect, side: Side): ChangeAddress {
  const path = hasContents(effect) ? effect.path : `${effect.path}.txt`;
  return { action, effect: index, side, path };
}
