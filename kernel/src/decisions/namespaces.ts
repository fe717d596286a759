import { named } from "../base/named.ts";

/** A shared memory that a document requests for several agents. */
export interface RequestedNamespace {
  readonly name: string;
  /** The extensions that may open it; null for every agent of the workspace. */
  readonly extensions: readonly string[] | null;
  /** True if they may write; otherwise they may only read. */
  readonly writable: boolean;
  /** The workspace that owns the memory, as written in the document; null for this one. */
  readonly workspace: string | null;
  /**
   * The real location of that workspace, absolute and with links resolved: this is what is accepted, and what is read.
   */
  readonly realPath: string | null;
}

/** True if accepting `accepted` covers `request`. */
export function isNamespaceCovered(
  request: RequestedNamespace,
  accepted: readonly RequestedNamespace[],
): boolean {
  return accepted.some(
    (before) =>
      isSame(request, before) &&
      (!request.writable || before.writable) &&
      (before.extensions === null ||
        (request.extensions !== null &&
          request.extensions.every((id) => before.extensions?.includes(id) === true))),
  );
}

/** Returns the part of each request that was accepted before. */
export function coveredNamespaces(
  requests: readonly RequestedNamespace[],
  accepted: readonly RequestedNamespace[],
): RequestedNamespace[] {
  return requests.flatMap((request) => {
    const before = accepted.find((candidate) => isSame(request, candidate));
    if (before === undefined) return [];
    return [
      {
        ...request,
        writable: request.writable && before.writable,
        extensions:
          before.extensions === null
            ? request.extensions
            : before.extensions.filter(
                (id) => request.extensions === null || request.extensions.includes(id),
              ),
      },
    ];
  });
}

/** Describes the request as a person is asked about it. */
export function describeNamespace({
  name,
  extensions,
  writable,
  workspace,
  realPath,
}: RequestedNamespace): string {
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

export function isRequestedNamespace(value: unknown): value is RequestedNamespace {
  if (typeof value !== "object" || value === null) return false;
  const { name, extensions, writable, workspace, realPath } = value as Partial<
    Record<keyof RequestedNamespace, unknown>
  >;
  return (
    typeof name === "string" &&
    typeof writable === "boolean" &&
    (workspace === null || typeof workspace === "string") &&
    // An earlier version stored no location; its acceptance was not for any particular place.
    (realPath === undefined || realPath === null || typeof realPath === "string") &&
    (extensions === null || (Array.isArray(extensions) && extensions.every((id) => typeof id === "string")))
  );
}

function isSame(one: RequestedNamespace, other: RequestedNamespace): boolean {
  return (
    one.name === other.name &&
    (one.workspace === null) === (other.workspace === null) &&
    one.realPath === (other.realPath ?? null)
  );
}
