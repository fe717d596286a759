import type { Statement } from "../platform/database/database.ts";

/** Returns what deletes the types that an extension defines, with all values, whoever wrote them. */
export function forgetValues(extension: string): Statement[] {
  const prefix = `${extension}/`;
  return ["shared_values", "shared_types"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE substr(type, 1, length(?1)) = ?1`,
    params: [prefix],
  }));
}
