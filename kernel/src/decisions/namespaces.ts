import { named } from "../base/named.ts";

/** A memory that several agents may open, as a document wishes it. */
export interface NamespaceWish {
  readonly name: string;
  /** Who may open it; null: every agent of the workspace. */
  readonly extensions: readonly string[] | null;
  /** Whether they may write; else they only read. */
  readonly writable: boolean;
  /** The workspace whose memory it is, as the document writes it; null: this one. */
  readonly workspace: string | null;
  /** Where that really lies, links resolved, absolute: what is accepted, and what is read. */
  readonly realPath: string | null;
}

/** True where saying yes to `accepted` has said yes to `wish`. */
export function isNamespaceCovered(wish: NamespaceWish, accepted: readonly NamespaceWish[]): boolean {
  return accepted.some(
    (before) =>
      isSame(wish, before) &&
      (!wish.writable || before.writable) &&
      (before.extensions === null ||
        (wish.extensions !== null &&
          wish.extensions.every((id) => before.extensions?.includes(id) === true))),
  );
}

/** The part of each wish that was accepted before. */
export function coveredNamespaces(
  wishes: readonly NamespaceWish[],
  accepted: readonly NamespaceWish[],
): NamespaceWish[] {
  return wishes.flatMap((wish) => {
    const before = accepted.find((candidate) => isSame(wish, candidate));
    if (before === undefined) return [];
    return [
      {
        ...wish,
        writable: wish.writable && before.writable,
        extensions:
          before.extensions === null
            ? wish.extensions
            : before.extensions.filter((id) => wish.extensions === null || wish.extensions.includes(id)),
      },
    ];
  });
}

/** As a person is asked. */
export function describeNamespace({
  name,
  extensions,
  writable,
  workspace,
  realPath,
}: NamespaceWish): string {
  const who =
    extensions === null
      ? "every agent"
      : extensions.length === 0
        ? "no agent"
        : extensions.map(named).join(", ");
  const real = realPath === null || realPath === workspace ? "" : ` → ${named(realPath)}`;
  const whose = workspace === null ? "" : ` of the workspace ${named(workspace)}${real}`;
  return `the document lets ${who} ${writable ? "read and write" : "read"} the shared memory ${named(name)}${whose}`;
}

export function isNamespaceWish(value: unknown): value is NamespaceWish {
  if (typeof value !== "object" || value === null) return false;
  const { name, extensions, writable, workspace, realPath } = value as Partial<
    Record<keyof NamespaceWish, unknown>
  >;
  return (
    typeof name === "string" &&
    typeof writable === "boolean" &&
    (workspace === null || typeof workspace === "string") &&
    // An earlier version kept none: that yes was to no place in particular.
    (realPath === undefined || realPath === null || typeof realPath === "string") &&
    (extensions === null || (Array.isArray(extensions) && extensions.every((id) => typeof id === "string")))
  );
}

function isSame(one: NamespaceWish, other: NamespaceWish): boolean {
  return (
    one.name === other.name &&
    (one.workspace === null) === (other.workspace === null) &&
    one.realPath === (other.realPath ?? null)
  );
}
