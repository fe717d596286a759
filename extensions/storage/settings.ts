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
  /** A file that was not changed for this many days is cold. */
  readonly cold_after_days: number;
  /** Smaller files stay where they are, however cold. Mebibytes. */
  readonly cold_min_mb: number;
  /** Folder for cold files, as `archive`; null: none was named, so no move is suggested. */
  readonly cold_folder: string | null;
}

export const defaults: Settings = {
  archive: "archive/duplicates",
  large_bytes: 50 * 1024 * 1024,
  min_bytes: 1,
  max_open: 25,
  cold_after_days: 365,
  cold_min_mb: 10,
  cold_folder: null,
};

export function settingsOf(config: Readonly<Record<string, unknown>>): Settings {
  return {
    archive: folderIn(config["archive"]) ?? defaults.archive,
    large_bytes: positive(config["large_bytes"], defaults.large_bytes),
    min_bytes: positive(config["min_bytes"], defaults.min_bytes),
    max_open: positive(config["max_open"], defaults.max_open),
    cold_after_days: positive(config["cold_after_days"], defaults.cold_after_days),
    cold_min_mb: positive(config["cold_min_mb"], defaults.cold_min_mb),
    cold_folder: folderIn(config["cold_folder"]) ?? defaults.cold_folder,
  };
}

function folderIn(value: unknown): string | null {
  const folder = typeof value === "string" ? value.replace(/^\.\/|\/+$/g, "") : "";
  return folder === "" ? null : folder;
}

function positive(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 1 ? value : otherwise;
}

/** Archived copies are in their place already, and files in hidden folders belong to some program. */
export function canBeArchived(path: string, settings: Settings): boolean {
  return !path.startsWith(`${settings.archive}/`) && !path.split("/").some((part) => part.startsWith("."));
}
