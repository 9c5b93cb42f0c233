// The one place that knows the runner's own library: it reads inputs and writes the runner's files in the form of the day.
export { getInput, getState, saveState, setSecret } from '@actions/core';
