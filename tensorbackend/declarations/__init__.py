"""What declarations say: the specifications of ops, parameters, and the kinds of arguments that they take."""
