import { isJsonObject } from "../../base/json.ts";
import { pointerTo, valueAt, type ParsedDocument, type SourceNode } from "../text/source.ts";
import { handlerKinds, type HandlerKind } from "./program.ts";

/** A handler that a manifest names. */
export interface HandlerUse {
  readonly kind: HandlerKind;
  readonly name: string;
  /** The range of the name. */
  readonly pointer: string;
  /** The pointer of the hook, the tool or the action. */
  readonly owner: string;
}

/** An extension that a configuration names. */
export interface ExtensionUse {
  readonly reference: { readonly path: string } | { readonly id: string };
  /** The range of the path or the id. */
  readonly pointer: string;
  readonly owner: string;
}

/** Returns what a manifest says about its program, even if other parts are invalid. */
export function handlerUses(document: ParsedDocument): HandlerUse[] {
  return handlerKinds.flatMap((kind) =>
    listAt(document, `/extension/${kind}`).flatMap((item, index) => {
      const owner = pointerTo("/extension", kind, index);
      const name = isJsonObject(item) ? item["handler"] : undefined;
      return typeof name === "string" ? [{ kind, name, pointer: `${owner}/handler`, owner }] : [];
    }),
  );
}

/** Returns the entries of `extensions`, even if other parts of the document are invalid. */
export function extensionUses(document: ParsedDocument): ExtensionUse[] {
  return listAt(document, "/extensions").flatMap((item, index): ExtensionUse[] => {
    const owner = pointerTo("/extensions", index);
    const { path, id } = isJsonObject(item) ? item : {};
    if (typeof path === "string") return [{ reference: { path }, pointer: `${owner}/path`, owner }];
    return typeof id === "string" ? [{ reference: { id }, pointer: `${owner}/id`, owner }] : [];
  });
}

function listAt(document: ParsedDocument, pointer: string): readonly unknown[] {
  const value = valueAt(document.value, pointer);
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** True if the node at a pointer contains the offset. The end counts, because a cursor is between characters. */
export function isAt(document: ParsedDocument, pointer: string, offset: number): boolean {
  const node: SourceNode | undefined = document.nodeAt(pointer);
  return node !== undefined && node.start <= offset && offset <= node.end;
}
