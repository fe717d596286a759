/** The part of undici that every request needs. Its index loads a browser's fetch, caches and mocks besides. */
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
