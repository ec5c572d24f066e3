// Remove an index, to be made anew in another form.
// $name: string    the index
DROP INDEX $name IF EXISTS
