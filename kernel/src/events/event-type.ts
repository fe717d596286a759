/** The possible types of a field, in CEL's notation; `entryFields` describes `Entry`. */
type FieldType =
  | "string"
  | "int"
  | "bool"
  | "dyn"
  | "list<string>"
  | "map<string, dyn>"
  | "map<string, map<string, dyn>>"
  | "Entry";

export interface Field {
  readonly type: FieldType;
  readonly description: string;
  /** All possible values, if they are few. */
  readonly values?: readonly string[];
}

export interface EventType {
  readonly name: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, Field>>;
}
