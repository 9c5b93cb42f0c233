/** A file as text: Vite reads it so in the tests, and `tsup.config.ts` has a plugin that does in the build. */
declare module '*?raw' {
  const text: string;
  export default text;
}
