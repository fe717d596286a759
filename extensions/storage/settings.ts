/** The settings from `config` in lares.yaml; missing or invalid ones have their defaults. */
export interface Settings {
  /** Folder for extra copies, relative to the workspace, no trailing slash. */
  readonly archive: string;
  /** A file of at least this many bytes should have a second copy. */
  readonly large_bytes: number;
  /** Files smaller than this are not worth tidying. */
  readonly min_bytes: number;
  /** At most this many of its proposals wait for an answer at once. */
  readonly max_open: number;
}

export const defaults: Settings = {
  archive: "archive/duplicates",
  large_bytes: 50 * 1024 * 1024,
  min_bytes: 1,
  max_open: 25,
};

export function settingsOf(config: Readonly<Record<string, unknown>>): Settings {
  const archive = typeof config["archive"] === "string" ? config["archive"].replace(/^\.\/|\/+$/g, "") : "";
  return {
    archive: archive === "" ? defaults.archive : archive,
    large_bytes: positive(config["large_bytes"], defaults.large_bytes),
    min_bytes: positive(config["min_bytes"], defaults.min_bytes),
    max_open: positive(config["max_open"], defaults.max_open),
  };
}

function positive(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 1 ? value : otherwise;
}

/** Archived copies are in their place already, and files in hidden folders belong to some program. */
export function canBeArchived(path: string, settings: Settings): boolean {
  return !path.startsWith(`${settings.archive}/`) && !path.split("/").some((part) => part.startsWith("."));
}
