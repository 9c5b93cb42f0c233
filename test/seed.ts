import fc from 'fast-check';

// In CI a property tries the same cases each time, so a red build is about the commit. Elsewhere they are random.
if (process.env.CI) fc.configureGlobal({ seed: 20_261 });
