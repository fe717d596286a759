import { Uri } from "vscode";
import type { Side } from "../deciding/content.ts";
import { hasContents } from "../model/effect-text.ts";
import { uriOf } from "../model/uris.ts";
import type { Effect } from "../protocol.ts";

/** The scheme of documents that `provider.ts` serves: one side of an effect, as the kernel has it. */
export const changeScheme = "lares-change";

export interface ChangeAddress {
  readonly action: string;
  /** Index into the action's effects. */
  readonly effect: number;
  readonly side: Side;
}

/** The document that describes an action: its state and the reason for it. */
export interface AboutAddress {
  readonly action: string;
  readonly side: "about";
}

/**
 * The path is the whole path of the file: a multi-file editor shows files with different names as renamed, and "Go to
 * File" offers the paths of open documents. An effect that is described in words is a text document whatever its file
 * is. The side and the action are in the query, which the person does not see.
 */
export function uriOfSide(action: string, index: number, effect: Effect, side: Side): Uri {
  const path = uriOf(effect.path)?.path ?? `/${effect.path}`;
  return Uri.from({
    scheme: changeScheme,
    path: hasContents(effect) ? path : `${path}.txt`,
    query: `${action}/${index}/${side}`,
  });
}

/** A multi-file editor shows this name above the text. */
export function uriOfAbout(action: string): Uri {
  return Uri.from({ scheme: changeScheme, path: "/About this change.txt", query: `${action}/about` });
}

const query = /^([^/]{1,256})\/(\d{1,4})\/(before|after)$/u;
const aboutQuery = /^([^/]{1,256})\/about$/u;

export function addressOf(uri: Uri): ChangeAddress | AboutAddress | undefined {
  if (uri.scheme !== changeScheme) return undefined;
  const [, about] = aboutQuery.exec(uri.query) ?? [];
  if (about !== undefined) return { action: about, side: "about" };
  const [, action, effect, side] = query.exec(uri.query) ?? [];
  if (action === undefined || effect === undefined) return undefined;
  return { action, effect: Number(effect), side: side === "before" ? "before" : "after" };
}
