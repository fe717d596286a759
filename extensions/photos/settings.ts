/** The settings from `config` in lares.yaml; missing or invalid ones have their defaults. */
interface Settings {
  /** Photos with neighbours within this distance are of one place. */
  readonly place_km: number;
  /** A place has at least this many photos. */
  readonly place_photos: number;
  /** Folder for the pages of albums, relative to the workspace, no trailing slash. */
  readonly albums: string;
  /** False: nothing is told on Sundays. */
  readonly memories: boolean;
}

export const defaults: Settings = { place_km: 2, place_photos: 3, albums: "albums", memories: true };

export function settingsOf(config: Readonly<Record<string, unknown>>): Settings {
  const albums = typeof config["albums"] === "string" ? config["albums"].replace(/^\.\/|\/+$/g, "") : "";
  return {
    place_km: within(config["place_km"], 0.1, 100, defaults.place_km),
    place_photos: Math.round(within(config["place_photos"], 1, 1000, defaults.place_photos)),
    albums: albums === "" ? defaults.albums : albums,
    memories: config["memories"] !== false,
  };
}

function within(value: unknown, least: number, most: number, otherwise: number): number {
  return typeof value === "number" && value >= least && value <= most ? value : otherwise;
}
