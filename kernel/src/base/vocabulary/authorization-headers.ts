/** Headers that hold credentials: where a secret may stand unless it is bound to another place. Lower case. */
export const authorizationHeaders: readonly string[] = [
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
];
