import { Uri } from "vscode";
import { hasContents } from "../model/effect-text.ts";
import { uriOf } from "../model/uris.ts";
import type { Effect } from "../protocol.ts";

/** Documents of this scheme are served by `provider.ts`: either side of an effect, as the kernel has it. */
export const changeScheme = "lares-change";

export type Side = "before" | "after";

export interface ChangeAddress {
  readonly action: string;
  /** Index into the action's effects. */
  readonly effect: number;
  readonly side: Side;
}

/**
 * Named as the file is, under its whole path: an editor of several files takes what is called otherwise for renamed, and
 * "Go to File" offers the path of whatever is open. Told in words, it is a text document whatever the file is. Which side
 * of what it is stands in the query, where nobody is shown it.
 */
export function uriOfSide(action: string, index: number, effect: Effect, side: Side): Uri {
  const path = uriOf(effect.path)?.path ?? `/${effect.path}`;
  return Uri.from({
    scheme: changeScheme,
    path: hasContents(effect) ? path : `${path}.txt`,
    query: `${action}/${index}/${side}`,
  });
}

const query = /^([^/]{1,256})\/(\d{1,4})\/(before|after)$/u;

export function addressOf(uri: Uri): ChangeAddress | undefined {
  if (uri.scheme !== changeScheme) return undefined;
  const [, action, effect, side] = query.exec(uri.query) ?? [];
  if (action === undefined || effect === undefined) return undefined;
  return { action, effect: Number(effect), side: side === "before" ? "before" : "after" };
}
