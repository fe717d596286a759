type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Without the members that are undefined, which the wire has no word for. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
