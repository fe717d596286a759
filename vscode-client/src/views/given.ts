type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Removes members that are undefined, which JSON cannot represent. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
