/** A token with a characteristic prefix; `manifests/secrets.yaml` explains the fields. */
export interface TokenRule {
  readonly name: string;
  readonly begins: readonly string[];
  readonly alphabet: string;
  /** Minimum and maximum number of characters after the prefix. */
  readonly length: readonly [number, number?];
  readonly glued?: boolean;
  readonly plain?: boolean;
  readonly dots?: number;
}

/**
 * A pattern of RE2 (no look-around, no back-references), which runs in linear time. It is tried at each of the keywords
 * (ASCII, in any case), and finds what begins there or after it; see `patternLimits`.
 */
export interface PatternRule {
  readonly name: string;
  readonly keywords: readonly string[];
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
    /** Minimum number of characters after the prefix. */
    readonly length: number;
  }[];
  readonly patterns?: readonly PatternRule[];
}

/** Characters: how far from a keyword a match of a pattern ends. */
export const patternWindow = 1024;
/** Characters of a match at most. */
export const maxPatternMatch = 512;
