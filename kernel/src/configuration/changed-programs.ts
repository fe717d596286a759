import {
  isCovered,
  type AcceptedRequests,
  type RequestedPermissions,
} from "../decisions/requested-permissions.ts";

/**
 * Returns the extensions whose changed program is all that a person has to accept; none if anything else waits too.
 * Computed from the requests and never from the sentences that a person is shown: those hold names a stranger chose.
 */
export function onlyChangedPrograms(requests: RequestedPermissions, accepted: AcceptedRequests): string[] {
  const changed: string[] = [];
  const extensions = { ...requests.extensions };
  for (const [id, request] of Object.entries(requests.extensions)) {
    const before = accepted.extensions[id];
    if (before === undefined || request.program === null || request.program === before.program) continue;
    changed.push(id);
    extensions[id] = { ...request, program: before.program };
  }
  return isCovered({ ...requests, extensions }, accepted) ? changed : [];
}
