/** A file as text: Vite loads it in tests, a plugin in `tsup.config.ts` in builds. */
declare module '*?raw' {
  const text: string;
  export default text;
}
