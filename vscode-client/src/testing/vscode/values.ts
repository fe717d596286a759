export class Uri {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;

  constructor(scheme: string, authority: string, path: string, query = "", fragment = "") {
    this.scheme = scheme;
    this.authority = authority;
    this.path = path;
    this.query = query;
    this.fragment = fragment;
  }
  static file(path: string): Uri {
    return new Uri("file", "", path.startsWith("/") ? path : `/${path}`);
  }
  static parse(text: string): Uri {
    const match = /^([a-z][\w+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(text);
    const [, scheme = "file", authority = "", path = text, query = "", fragment = ""] = match ?? [];
    const decode = decodeURIComponent;
    return new Uri(scheme, decode(authority), decode(path), decode(query), decode(fragment));
  }
  static from(parts: { scheme: string; authority?: string; path?: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.authority ?? "", parts.path ?? "", parts.query);
  }
  static joinPath(base: Uri, ...segments: string[]): Uri {
    const joined = [base.path.replace(/\/$/, ""), ...segments].filter(Boolean).join("/");
    return new Uri(base.scheme, base.authority, joined, base.query, base.fragment);
  }
  get fsPath(): string {
    return this.path;
  }
  with(change: { scheme?: string; authority?: string; path?: string; query?: string }): Uri {
    return new Uri(
      change.scheme ?? this.scheme,
      change.authority ?? this.authority,
      change.path ?? this.path,
      change.query ?? this.query,
      this.fragment,
    );
  }
  toString(): string {
    const authority = this.authority === "" && this.scheme !== "file" ? "" : `//${this.authority}`;
    const query = this.query === "" ? "" : `?${encodeURIComponent(this.query)}`;
    return `${this.scheme}:${authority}${encodeURI(this.path)}${query}`;
  }
}

export class Position {
  readonly line: number;
  readonly character: number;
  constructor(line: number, character: number) {
    this.line = line;
    this.character = character;
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

export class Selection extends Range {
  readonly active = this.end;
}

export class Location {
  readonly uri: Uri;
  readonly range: Range;
  constructor(uri: Uri, range: Range) {
    this.uri = uri;
    this.range = range;
  }
}

/** Changes files in the editor; the client creates it only to change none. */
export class WorkspaceEdit {
  readonly size = 0;
}

/** As the editor's: `code` is the name of what made it. */
export class FileSystemError extends Error {
  readonly code: string;
  constructor(code: string, uri: Uri) {
    super(`${code}: ${uri.toString()}`);
    this.code = code;
  }
  static FileNotFound = (uri: Uri): FileSystemError => new FileSystemError("FileNotFound", uri);
  static FileNotADirectory = (uri: Uri): FileSystemError => new FileSystemError("FileNotADirectory", uri);
  static NoPermissions = (uri: Uri): FileSystemError => new FileSystemError("NoPermissions", uri);
}

export class CancellationError extends Error {}

export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 } as const;

export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 } as const;

export const FileChangeType = { Changed: 1, Created: 2, Deleted: 3 } as const;

export const OverviewRulerLane = { Left: 1, Center: 2, Right: 4, Full: 7 } as const;

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;

export const StatusBarAlignment = { Left: 1, Right: 2 } as const;

export const ExtensionMode = { Production: 1, Development: 2, Test: 3 } as const;

export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 } as const;

export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;

export const ViewColumn = { Active: -1, Beside: -2 } as const;
