/** A token that says itself what it is; `manifests/secrets.yaml` says what the fields mean. */
export interface TokenRule {
  readonly name: string;
  readonly begins: readonly string[];
  readonly alphabet: string;
  /** Characters after the beginning: at least, and at most. */
  readonly length: readonly [number, number?];
  readonly glued?: boolean;
  readonly plain?: boolean;
  readonly dots?: number;
}

/** A pattern of RE2 (no look-around, no back-references): no text makes it slow. */
export interface PatternRule {
  readonly name: string;
  readonly pattern: string;
}

export interface SecretRules {
  readonly tokens: readonly TokenRule[];
  readonly named: {
    readonly strong: readonly string[];
    readonly weak: readonly string[];
    readonly services: readonly string[];
  };
  readonly blocks: readonly {
    readonly name: string;
    readonly begins: string;
    readonly holds: string;
    readonly ends: string;
  }[];
  readonly addresses: readonly {
    readonly name: string;
    readonly begins: readonly string[];
    /** Characters after the beginning, at least. */
    readonly length: number;
  }[];
  readonly patterns?: readonly PatternRule[];
}
