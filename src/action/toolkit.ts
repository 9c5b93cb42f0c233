// The only module that imports the runner's library, which reads inputs and writes the runner's files in their current format.
export { getInput, getState, saveState, setSecret } from '@actions/core';
